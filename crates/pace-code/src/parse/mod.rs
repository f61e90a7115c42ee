//! From text to the parser's tree, without a crash on any text.
//!
//! The parser grows its stack as it needs, almost everywhere, and its tree is dropped by recursion. So a deep source is parsed,
//! walked and dropped on a thread whose stack suffices, and one that is too deep is refused before it is parsed.

mod depth;
mod lines;
mod text;

use ruff_python_ast::ModModule;
use ruff_python_parser::parse_module;

use crate::error::Error;

pub(crate) use lines::{LineCursor, line_at};
pub use text::MAX_SOURCE_BYTES;
pub(crate) use text::utf8;

/// Levels of nesting that are parsed. CPython gives up at 100 blocks, 200 brackets or some thousand operators.
pub(crate) const MAX_DEPTH: usize = 50_000;
/// Levels that any thread has the stack for, whatever they are.
const SHALLOW: usize = 500;
/// Stack for one level. Dropping takes up to 200 bytes, or 400 without optimisation; but parsing the default of a lambda takes
/// 1,500, or 4,200.
const LEVEL_BYTES: usize = 4096;
/// Stack for everything that does not grow with the depth.
const BASE_BYTES: usize = 1 << 20;

/// A parsed source.
#[derive(Clone, Copy)]
pub(crate) struct Parsed<'a> {
    /// The source, its line breaks all LF.
    pub(crate) text: &'a str,
    /// Its tree.
    pub(crate) module: &'a ModModule,
}

/// Parses a source and hands its tree to `work`.
pub(crate) fn with_parsed<R: Send>(
    source: &str,
    work: impl FnOnce(Parsed<'_>) -> Result<R, Error> + Send,
) -> Result<R, Error> {
    let source = &*text::checked(source)?;
    let run = || {
        let parsed = parse_module(source).map_err(|error| Error::Syntax {
            line: line_at(source, error.location.start().to_usize()),
            message: error.error.to_string(),
        })?;
        work(Parsed { text: source, module: parsed.syntax() })
    };
    if depth::is_shallow(source) {
        return run();
    }
    match depth::by_tokens(source) {
        ..=SHALLOW => run(),
        depth @ ..=MAX_DEPTH => on_large_stack(depth * LEVEL_BYTES + BASE_BYTES, run),
        _ => Err(Error::TooDeep { max_depth: MAX_DEPTH }),
    }
}

/// Runs `work` on a thread of its own. Memory that the stack does not touch costs nothing.
fn on_large_stack<R: Send>(n_bytes: usize, work: impl FnOnce() -> Result<R, Error> + Send) -> Result<R, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(n_bytes).spawn_scoped(scope, work);
        let thread = thread.map_err(|source| Error::Thread { n_bytes, source })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
