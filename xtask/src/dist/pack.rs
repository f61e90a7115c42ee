//! The archive: a folder of files as `.tar.gz`, the same bytes whenever it is made, and its checksum beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::capture;
use crate::fetch::sha256_of;
use crate::root::write_atomically;

/// What to pack.
pub struct Archive {
    /// Of the folder inside and of the file, without `.tar.gz`.
    pub name: String,
    /// Files that go into the folder under their own names.
    pub files: Vec<PathBuf>,
    /// The text of `THIRD-PARTY.txt`.
    pub third_party: String,
    /// The time of all files inside, in seconds since 1970.
    pub time: u64,
}

/// What was packed.
#[derive(Debug)]
pub struct Packed {
    /// The archive.
    pub path: PathBuf,
    /// Its size.
    pub n_bytes: u64,
    /// Its digest.
    pub sha256: String,
}

impl Archive {
    /// Writes the archive and `<archive>.sha256` into `dist`; an archive above `max_bytes` is an error.
    ///
    /// `tar` and `gzip` do the work: every system on which we build has them.
    pub fn write(&self, dist: &Path, max_bytes: u64) -> Result<Packed> {
        let folder = dist.join(&self.name);
        self.fill(&folder).with_context(|| format!("could not fill {}", folder.display()))?;
        let archive = format!("{}.tar.gz", self.name);
        let mut tar = Command::new("tar");
        tar.current_dir(dist).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
        // Not -z: gzip would write the time of today.
        tar.arg(format!("--mtime=@{}", self.time)).args(["--use-compress-program", "gzip -9n", "-cf"]);
        capture(tar.arg(&archive).arg(&self.name)).context("could not pack; GNU tar and gzip are needed")?;
        let path = dist.join(&archive);
        let n_bytes = std::fs::metadata(&path).with_context(|| format!("could not read {}", path.display()))?.len();
        if n_bytes > max_bytes {
            bail!(
                "{} has {n_bytes} bytes, the limit is {max_bytes}; look in {} for what grew, strip it or raise MAX_BYTES in \
                 xtask/src/dist",
                path.display(),
                folder.display()
            );
        }
        let sha256 = sha256_of(&path).with_context(|| format!("could not read {}", path.display()))?;
        // As `sha256sum --check` reads it.
        write_atomically(&dist.join(format!("{archive}.sha256")), &format!("{sha256}  {archive}\n"))?;
        Ok(Packed { path, n_bytes, sha256 })
    }

    /// Makes the folder anew.
    fn fill(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        for file in &self.files {
            let name = file.file_name().with_context(|| format!("{} has no name", file.display()))?;
            std::fs::copy(file, folder.join(name)).with_context(|| format!("could not copy {}", file.display()))?;
        }
        std::fs::write(folder.join("THIRD-PARTY.txt"), &self.third_party)?;
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::root::test_dir;

    #[test]
    fn a_small_program_is_packed_with_its_papers() {
        let dir = test_dir("dist-pack");
        let program = dir.join("small");
        std::fs::write(&program, "#!/bin/sh\necho small\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(dir.join("LICENSE"), "do as you like").unwrap();
        let archive = Archive {
            name: "small-1.0.0".to_owned(),
            files: vec![program, dir.join("LICENSE")],
            third_party: "nobody".to_owned(),
            time: 1_000_000_000,
        };
        let dist = dir.join("dist");
        let packed = archive.write(&dist, 10_000).unwrap();
        assert_eq!(packed.path, dist.join("small-1.0.0.tar.gz"));
        capture(Command::new("sha256sum").current_dir(&dist).args(["--check", "small-1.0.0.tar.gz.sha256"])).unwrap();
        let listed = capture(Command::new("tar").arg("-tzf").arg(&packed.path)).unwrap();
        let expected = ["", "LICENSE", "THIRD-PARTY.txt", "small"].map(|name| format!("small-1.0.0/{name}"));
        assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
        capture(Command::new("tar").current_dir(&dir).arg("-xzf").arg(&packed.path)).unwrap();
        assert_eq!(capture(&mut Command::new(dir.join("small-1.0.0/small"))).unwrap(), "small\n");
        assert_eq!(archive.write(&dist, 10_000).unwrap().sha256, packed.sha256, "the same bytes again");
        let message = archive.write(&dist, 10).unwrap_err().to_string();
        assert!(message.contains("the limit is 10"), "{message}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let dir = test_dir("dist-missing");
        let files = vec![dir.join("absent")];
        let archive = Archive { name: "x".to_owned(), files, third_party: String::new(), time: 0 };
        let message = format!("{:#}", archive.write(&dir, 10_000).unwrap_err());
        assert!(message.contains("could not copy") && message.contains("absent"), "{message}");
    }
}
