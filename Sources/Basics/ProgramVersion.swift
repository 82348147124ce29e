/// The version of both programs (Semantic Versioning 2.0.0).
///
/// A release changes it with `scripts/version`: here, in `Dockerfile`, `deploy/kubernetes.yaml` and `Public/openapi.yaml`, and
/// in the generated `Public/openapi.json`. Tests and lint compare them.
package let programVersion = "0.1.0"
