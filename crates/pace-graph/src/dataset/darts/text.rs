//! Genotypes as text, in the two forms that circulate:
//!
//! ```text
//! Genotype(normal=[('sep_conv_3x3', 0), ... 8 pairs], normal_concat=[2, 3, 4, 5], reduce=[...], reduce_concat=range(2, 6))
//! [[(0, 3), ... 8 pairs (input, operation)], [...]]       NASLib's compact form, with lists or tuples
//! ```

use std::fmt;
use std::str::FromStr;

use super::{DartsCell, DartsEdge, FIRST_OP, Genotype, N_OPS};
use crate::dag::Op;
use crate::error::Error;
use crate::input::cursor::Cursor;
use crate::spec::DagSpec;

impl Genotype {
    /// NASLib's compact form: `[[(input, operation), ...], [...]]`, operations numbered from 0.
    pub fn compact(&self) -> String {
        let entry = |edge: &DartsEdge| format!("({}, {})", edge.input, edge.op - FIRST_OP);
        let cell = |cell: &DartsCell| cell.edges.iter().map(entry).collect::<Vec<_>>().join(", ");
        format!("[[{}], [{}]]", cell(&self.normal), cell(&self.reduce))
    }
}

impl fmt::Display for Genotype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = DagSpec::darts();
        let entry = |edge: &DartsEdge| format!("('{}', {})", spec.op_name(edge.op), edge.input);
        let cell = |cell: &DartsCell| cell.edges.iter().map(entry).collect::<Vec<_>>().join(", ");
        let (normal, reduce) = (cell(&self.normal), cell(&self.reduce));
        write!(f, "Genotype(normal=[{normal}], normal_concat=[2, 3, 4, 5], ")?;
        write!(f, "reduce=[{reduce}], reduce_concat=[2, 3, 4, 5])")
    }
}

impl FromStr for Genotype {
    type Err = Error;

    fn from_str(text: &str) -> Result<Genotype, Error> {
        let mut cursor = Cursor::new(text);
        let genotype = if cursor.eat("Genotype") { named(&mut cursor)? } else { compact(&mut cursor)? };
        cursor.end()?;
        Ok(genotype)
    }
}

fn named(cursor: &mut Cursor<'_>) -> Result<Genotype, Error> {
    let spec = DagSpec::darts();
    cursor.expect("(", "after Genotype")?;
    let mut cells = Vec::new();
    for name in ["normal", "reduce"] {
        cursor.expect(name, "cell next")?;
        cursor.expect("=", "after its name")?;
        cells.push(cell(cursor, |cursor, entry| {
            let name = cursor.quoted("an operation name in quotes")?;
            let op = spec.op(name).filter(|op| (FIRST_OP..FIRST_OP + N_OPS).contains(op));
            let op = op.ok_or_else(|| spec.unknown_op(entry, name.to_owned()))?;
            cursor.expect(",", "after an operation name")?;
            Ok(DartsEdge { op, input: cursor.number("an input number")? })
        })?);
        cursor.expect(",", "after a cell")?;
        cursor.expect(name, "concat next")?;
        cursor.expect("_concat", "next")?;
        cursor.expect("=", "after a name")?;
        concat(cursor)?;
        if name == "normal" {
            cursor.expect(",", "before the reduction cell")?;
        }
    }
    cursor.eat(",");
    cursor.expect(")", "at the end of a genotype")?;
    Ok(Genotype { normal: cells[0], reduce: cells[1] })
}

fn compact(cursor: &mut Cursor<'_>) -> Result<Genotype, Error> {
    let close = open(cursor, "before the two cells")?;
    let entry = |cursor: &mut Cursor<'_>, entry| {
        let input = cursor.number("an input number")?;
        cursor.expect(",", "between input and operation")?;
        let op = cursor.number("an operation number")?;
        let known = Op::try_from(op).ok().filter(|&op| op < N_OPS);
        let op = known.ok_or_else(|| DagSpec::darts().unknown_op(entry, op.to_string()))?;
        Ok(DartsEdge { op: op + FIRST_OP, input })
    };
    let normal = cell(cursor, entry)?;
    cursor.expect(",", "between the two cells")?;
    let reduce = cell(cursor, entry)?;
    cursor.eat(",");
    cursor.expect(close, "after the two cells")?;
    Ok(Genotype { normal, reduce })
}

/// Takes an opening bracket and returns its closing one.
fn open(cursor: &mut Cursor<'_>, what: &str) -> Result<&'static str, Error> {
    Ok(if cursor.either("[", "(", what)? { "]" } else { ")" })
}

/// Eight bracketed pairs in brackets.
fn cell(
    cursor: &mut Cursor<'_>,
    entry: impl Fn(&mut Cursor<'_>, usize) -> Result<DartsEdge, Error>,
) -> Result<DartsCell, Error> {
    let close = open(cursor, "before a cell")?;
    let mut edges = [DartsEdge { op: FIRST_OP, input: 0 }; 8];
    for (index, edge) in edges.iter_mut().enumerate() {
        if index > 0 {
            cursor.expect(",", "between the 8 entries of a cell")?;
        }
        let close = open(cursor, "before an entry")?;
        *edge = entry(cursor, index)?;
        cursor.expect(close, "after an entry")?;
    }
    cursor.eat(",");
    cursor.expect(close, "after the 8 entries of a cell")?;
    DartsCell::new(edges)
}

/// The states that the output joins: the 15-node graph has all four, so nothing else is accepted.
fn concat(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let before = *cursor;
    if cursor.eat("range") {
        let range = ["(", "2", ",", "6", ")"];
        if range.into_iter().all(|token| cursor.eat(token)) {
            return Ok(());
        }
    } else {
        let close = open(cursor, "before the concat")?;
        let list = ["2", ",", "3", ",", "4", ",", "5"];
        if list.into_iter().all(|token| cursor.eat(token)) {
            cursor.eat(",");
            return cursor.expect(close, "after the concat");
        }
    }
    Err(Error::syntax("a concat of all four nodes, [2, 3, 4, 5] or range(2, 6)", before.clone().rest()))
}
