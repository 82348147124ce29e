/// The version of both programs (Semantic Versioning 2.0.0).
///
/// `scripts/version` changes it for a release: here, in `Dockerfile`, `deploy/kubernetes.yaml`, `Public/openapi.yaml`
/// and the generated `Public/openapi.json`. Lint compares them.
package let programVersion = "1.0.0"
