//! Locations in the settings of a project: which it may name, and how they are written there.

use std::path::Path;

use super::host::may_be_here;
use super::location::Location;
use super::mcp::McpAddress;

impl Location {
    /// The reason, as a clause, why a project may not name this location. `None` if it is on another
    /// machine and needs no secret of the user, or if it is a path inside `project` that does not leave
    /// it by a link.
    pub(super) fn why_not_of_project(&self, project: &Path) -> Option<&'static str> {
        let real = |path: &Path| path.canonicalize().ok();
        let is_inside = |path: &Path| {
            real(path).zip(real(project)).is_some_and(|(path, root)| path.starts_with(root))
        };
        match self {
            // The user chooses the server by the environment.
            Location::ObjectStore(_) => None,
            Location::Mcp(McpAddress::Program(_)) => Some("is a program of this machine"),
            Location::Mcp(McpAddress::Http { token: Some(_), .. }) => {
                Some("takes a token of the user")
            }
            Location::Directory(path) | Location::Archive(path) => {
                (!is_inside(path)).then_some("is not inside it")
            }
            Location::Git(url) if url.starts_with("file:") => Some("is not inside it"),
            Location::Git(_)
            | Location::RemoteArchive(_)
            | Location::Oci(_)
            | Location::WellKnown(_)
            | Location::Mcp(_) => may_be_here(&self.to_string()).then_some("is of this machine"),
        }
    }

    /// The text to write into the `config.toml` of `project`, or of the user if `project` is `None`.
    pub(super) fn written(&self, project: Option<&Path>) -> String {
        let (Location::Directory(path) | Location::Archive(path)) = self else {
            return self.to_string();
        };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let root = project.and_then(|project| project.canonicalize().ok());
        match root.as_ref().and_then(|root| real.strip_prefix(root).ok()) {
            Some(inside) => format!("./{}", inside.display()),
            None => real.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_names_other_machines_and_what_is_inside_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("work");
        fs::create_dir_all(project.join("kit")).unwrap();
        fs::create_dir(dir.path().join("kit")).unwrap();
        let (here, outside) = (Some("is of this machine"), Some("is not inside it"));
        for (text, why) in [
            ("o/r", None),
            ("git@localhost:o/r", here),
            ("https://127.0.0.1/o/r", here),
            ("file:///srv/r", outside),
            ("./kit", None),
            ("../kit", outside),
            ("http://127.0.0.1:80/x.zip", here),
            ("oci://127.0.0.1:5000/kit:v1", here),
            ("s3://bucket/kit", None),
            ("mcp+https://h.org/mcp", None),
            ("mcp+http://localhost/mcp", here),
            ("mcp+https://localhost:8443/mcp", here),
            ("mcp+https://127.1/mcp", here),
            ("mcp+https://localhost/mcp", here),
            ("mcp+https://$T@h.org/mcp", Some("takes a token of the user")),
            ("mcp:sh -c id", Some("is a program of this machine")),
        ] {
            let location = Location::parse(text, &project).unwrap();
            assert_eq!(location.why_not_of_project(&project), why, "{text}");
        }
    }
}
