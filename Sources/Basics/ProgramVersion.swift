/// The version of both programs (Semantic Versioning 2.0.0).
///
/// A release changes it here, in `Dockerfile`, `Public/openapi.yaml` and `deploy/kubernetes.yaml`; a test compares them.
package let programVersion = "0.1.0"
