//! How deep a tree can be, told before it is parsed.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::Mode;
use ruff_python_parser::lexer::lex;

/// Levels by [`by_bytes`] that any thread has the stack for. Most functions have fewer, so that their tokens need not be counted.
const SHALLOW_BYTES: usize = 2_000;
/// Levels that a `lambda` counts for in bytes: its defaults are what the parser nests without growing its stack.
const LAMBDA_LEVELS: usize = 16;

/// Whether a look at the bytes shows that any thread has the stack for a source.
pub(super) fn is_shallow(source: &str) -> bool {
    source.len() <= SHALLOW_BYTES / 2 || by_bytes(source) <= SHALLOW_BYTES
}

/// A bound by the bytes alone: every level of a tree costs a sign of punctuation or the end of a word, also in sources with
/// errors. Loose, but some passes over the bytes are all it takes.
fn by_bytes(source: &str) -> usize {
    let is_space = |byte: u8| byte <= b' ';
    let bytes = source.as_bytes();
    let n_signs = bytes.iter().filter(|byte| byte.is_ascii_punctuation()).count();
    let n_words = bytes.windows(2).filter(|pair| !is_space(pair[0]) && is_space(pair[1])).count();
    n_signs + n_words + 1 + LAMBDA_LEVELS * source.matches("lambda").count()
}

/// What stands open between two brackets.
struct Level {
    /// The bracket that closes it; `None` outside all brackets.
    closer: Option<TokenKind>,
    /// Operators and keywords since the last comma. Each may have what stands before or after it below itself.
    chain: usize,
    /// `lambda`s whose colon is still to come: the commas before it separate parameters.
    n_lambdas: usize,
}

impl Level {
    fn new(closer: Option<TokenKind>) -> Level {
        Level { closer, chain: 0, n_lambdas: 0 }
    }
}

/// A bound by tokens: blocks, plus brackets, plus operators that no comma separates.
///
/// Sources with errors only make it larger. Brackets that do not match stay open here, as the parser, too, looks for their
/// ends. And where there is no token, or an f-string without end, it may read on anywhere: only the bytes give a bound.
pub(super) fn by_tokens(source: &str) -> usize {
    let mut lexer = lex(source, Mode::Module);
    let (mut levels, mut depth, mut deepest, mut n_open_strings) = (vec![Level::new(None)], 0, 0, 0_usize);
    loop {
        let token = lexer.next_token();
        let is_outside = levels.len() == 1;
        let level = levels.last_mut().expect("the outermost level is never closed");
        match token {
            TokenKind::EndOfFile if n_open_strings == 0 => return deepest + widest_margin(source),
            TokenKind::EndOfFile | TokenKind::Unknown => return by_bytes(source),
            TokenKind::FStringStart | TokenKind::TStringStart => n_open_strings += 1,
            TokenKind::FStringEnd | TokenKind::TStringEnd => n_open_strings = n_open_strings.saturating_sub(1),
            TokenKind::Comma | TokenKind::Semi | TokenKind::Newline => {
                let ends = if token == TokenKind::Comma { level.n_lambdas == 0 } else { is_outside };
                if ends {
                    depth -= level.chain;
                    *level = Level::new(level.closer);
                }
            }
            _ if level.closer == Some(token) => {
                depth -= level.chain;
                levels.pop();
            }
            _ if is_operand(token) => {}
            _ => {
                level.chain += 1;
                depth += 1;
                deepest = deepest.max(depth);
                match token {
                    TokenKind::Lambda => level.n_lambdas += 1,
                    TokenKind::Colon => level.n_lambdas = level.n_lambdas.saturating_sub(1),
                    _ => levels.extend(closer(token).map(|closer| Level::new(Some(closer)))),
                }
            }
        }
    }
}

/// The widest white space before a line. Blocks nest no deeper, whatever the parser takes for one.
fn widest_margin(source: &str) -> usize {
    source.lines().map(|line| line.len() - line.trim_ascii_start().len()).max().unwrap_or(0)
}

/// What closes a bracket.
fn closer(token: TokenKind) -> Option<TokenKind> {
    match token {
        TokenKind::Lpar => Some(TokenKind::Rpar),
        TokenKind::Lsqb => Some(TokenKind::Rsqb),
        TokenKind::Lbrace => Some(TokenKind::Rbrace),
        _ => None,
    }
}

/// Whether a token is a leaf, or nothing of the tree.
fn is_operand(token: TokenKind) -> bool {
    matches!(
        token,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Indent
            | TokenKind::Dedent
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_lines_start_anew() {
        let row = "-1, (2, -3), {4: f(5)}, lambda a, b: a + b, ".repeat(1000);
        assert!(by_tokens(&format!("x = [{row}]\n")) < 20);
        assert!(by_tokens(&"x = a + b.c\n".repeat(1000)) < 10);
        assert!(by_tokens(&"if a:\n    b = [c]\n".repeat(1000)) < 10);
    }

    #[test]
    fn nesting_is_not_missed() {
        let n = 1000;
        for nested in [
            "(".repeat(n) + &")".repeat(n),
            "not ".repeat(n) + "a",
            "lambda a, b: ".repeat(n) + "a",
            "a if b else ".repeat(n) + "c",
            "f(a, ".repeat(n) + &")".repeat(n),
            "a".to_owned() + &".b".repeat(n),
            "a".to_owned() + &"()".repeat(n),
            "a".to_owned() + &" + b".repeat(n),
            "(]\n".repeat(n),
            "lambda a=".repeat(n),
            "f'''{'''\n".to_owned() + &"[".repeat(n),
            "f'{".repeat(n) + "a" + &"}'".repeat(n),
            (0..n).map(|level| " ".repeat(level) + "if a:\n").collect::<String>() + &" ".repeat(n) + "b\n",
        ] {
            assert!(by_tokens(&nested) >= n, "{}", &nested[..40]);
            assert!(by_bytes(&nested) >= n, "{}", &nested[..40]);
        }
    }
}
