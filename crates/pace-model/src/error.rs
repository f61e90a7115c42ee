//! What can go wrong in this crate other than a misuse of shapes, which panics.

/// Errors of pace-model; every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is not that of a device this crate knows.
    #[error("unknown device {name:?}: use one of {known}, or leave it out for the best CPU device")]
    UnknownDevice {
        /// What was asked for.
        name: String,
        /// The names this build accepts.
        known: &'static str,
    },
    /// The device exists, but this build has no code for it.
    #[error("device {name:?} is not in this build: rebuild with `--features {feature}`")]
    DeviceNotBuilt {
        /// What was asked for.
        name: String,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
    /// The device index does not parse.
    #[error("device {name:?} has no valid index: write the name, a colon and a number, as in \"cuda:1\"")]
    DeviceIndex {
        /// What was asked for.
        name: String,
    },
    /// The driver library of a GPU device cannot be found.
    #[error("device {name:?} needs {library}, which is missing ({reason}): install the driver or use \"flex\"")]
    DriverMissing {
        /// What was asked for.
        name: String,
        /// The shared library that was tried.
        library: &'static str,
        /// Where it was looked for.
        reason: String,
    },
}
