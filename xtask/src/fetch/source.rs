//! Where a file may come from: a mirror of the user's choice, then the address in the manifest.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::manifest::RemoteFile;

/// The variable that names a mirror for all commands.
pub const MIRROR_VARIABLE: &str = "PACE_MIRROR";

/// A copy of the manifest's files, each at `<base>/<id of the dataset>/<path of the file>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Without the slash at its end.
    base: String,
}

/// One place that is said to have a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// On a server.
    Http(String),
    /// In a folder of this machine.
    File(PathBuf),
}

impl Mirror {
    /// The mirror named on the command line, else the one in the environment. An empty name means none.
    pub fn chosen(argument: Option<&str>, variable: Option<&str>) -> Result<Option<Mirror>> {
        argument.or(variable).filter(|base| !base.is_empty()).map(Mirror::parse).transpose()
    }

    fn parse(base: &str) -> Result<Mirror> {
        if !["http://", "https://", "file:///"].iter().any(|scheme| base.starts_with(scheme)) {
            bail!(
                "the mirror {base:?} starts with none of http://, https:// and file:///; a folder on this machine is \
                 written file:///path/to/folder"
            );
        }
        Ok(Mirror { base: base.trim_end_matches('/').to_owned() })
    }

    /// Where the mirror has a file of the dataset `id`.
    pub fn source(&self, id: &str, file: &RemoteFile) -> Source {
        let address = format!("{}/{id}/{}", self.base, file.path);
        match address.strip_prefix("file://") {
            Some(path) => Source::File(path.into()),
            None => Source::Http(address),
        }
    }

    /// The base address, as it may be given to another process.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether this mirror can only be read with TLS.
    pub fn needs_tls(&self) -> bool {
        self.base.starts_with("https:")
    }
}

impl Source {
    /// Where the manifest says that the file is published.
    pub fn upstream(file: &RemoteFile) -> Source {
        Source::Http(file.url.clone())
    }

    /// Whether it can only be read with TLS.
    pub fn needs_tls(&self) -> bool {
        matches!(self, Source::Http(url) if url.starts_with("https:"))
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Http(url) => f.write_str(url),
            Source::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_comes_before_the_environment() {
        let base = |argument, variable| {
            Mirror::chosen(argument, variable).unwrap().map(|mirror: Mirror| mirror.base().to_owned())
        };
        assert_eq!(base(None, None), None);
        assert_eq!(base(None, Some("http://b")), Some("http://b".to_owned()));
        assert_eq!(base(Some("http://a/"), Some("http://b")), Some("http://a".to_owned()));
        assert_eq!(base(Some(""), Some("http://b")), None, "an empty name switches the mirror off");
    }

    #[test]
    fn files_lie_below_the_id_of_their_dataset() {
        let file = RemoteFile {
            path: "sub/a.txt".to_owned(),
            url: "https://upstream/x".to_owned(),
            bytes: None,
            sha256: None,
            unpack_to: None,
        };
        let source = |base| Mirror::parse(base).unwrap().source("na", &file);
        assert_eq!(source("https://m/pace/"), Source::Http("https://m/pace/na/sub/a.txt".to_owned()));
        assert_eq!(source("file:///srv/pace"), Source::File("/srv/pace/na/sub/a.txt".into()));
        for wrong in ["/srv/pace", "ftp://m", "file://relative"] {
            assert!(Mirror::parse(wrong).unwrap_err().to_string().contains("file:///path/to/folder"), "{wrong}");
        }
    }
}
