//! Searches whose scores come from somebody else's program: the oracle, the claims of workers, and the loop.

mod claim;
mod oracle;
mod space;
mod study;
mod work;

pub use oracle::{OracleArg, Scorer};
pub use space::SearchSpace;
pub use study::Study;
pub use work::{Progress, answer_all, drive};
