//! Searches whose scores come from somebody else's program: the oracle, the rule, the claims of workers, and the loop.

mod allow;
mod claim;
mod oracle;
mod study;
mod work;

pub use allow::{Allow, AllowArg};
pub use oracle::{OracleArg, Scorer};
pub use study::Study;
pub use work::{Progress, answer_all, drive};
