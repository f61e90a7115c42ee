//! Searches whose scores come from somebody else's program: the oracle, the rule, the place of queries, and the loop.

mod allow;
mod oracle;
mod place;
mod study;
mod work;

pub use allow::{Allow, AllowArg};
pub use oracle::{OracleArg, Scorer};
pub use place::{address, join, keep_journal, open};
pub use study::Study;
pub use work::{Progress, answer_all, drive};
