//! Which instructions of a function are in a loop.

use super::instruction::{Instruction, Next};
use super::symbol::diverges;

/// For each instruction, whether control can come back to it: it lies on a cycle of the graph of jumps.
///
/// The range between a backward jump and its target would be simpler, but compilers move rare code behind the end of a
/// function; its jump back makes a loop of everything between.
pub fn in_loops(code: &[Instruction]) -> Vec<bool> {
    let after = successors(code);
    let mut before = vec![Vec::new(); code.len()];
    for (at, nexts) in after.iter().enumerate() {
        nexts.iter().for_each(|next| before[*next].push(at));
    }
    // Kosaraju: from the last finished backwards, what reaches a place is what is on a cycle with it.
    let mut seen = vec![false; code.len()];
    let mut finished = Vec::with_capacity(code.len());
    for start in 0..code.len() {
        visit(start, &after, &mut seen, |at| finished.push(at));
    }
    let mut seen = vec![false; code.len()];
    let mut looping = vec![false; code.len()];
    for start in finished.into_iter().rev() {
        let mut component = Vec::new();
        visit(start, &before, &mut seen, |at| component.push(at));
        if component.len() > 1 || after[start].contains(&start) {
            component.into_iter().for_each(|at| looping[at] = true);
        }
    }
    looping
}

/// Walks depth first from `start` over what was not seen before, and reports each place when all behind it are done.
fn visit(start: usize, edges: &[Vec<usize>], seen: &mut [bool], mut done: impl FnMut(usize)) {
    let mut path = vec![(start, 0)];
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    while let Some((at, n_taken)) = path.last_mut() {
        match edges[*at].get(*n_taken) {
            Some(next) => {
                *n_taken += 1;
                if !std::mem::replace(&mut seen[*next], true) {
                    path.push((*next, 0));
                }
            }
            None => {
                done(*at);
                path.pop();
            }
        }
    }
}

/// For each instruction, those that can run right after it.
fn successors(code: &[Instruction]) -> Vec<Vec<usize>> {
    let place = |address: u64| code.binary_search_by_key(&address, |instruction| instruction.address).ok();
    let mut after = vec![Vec::new(); code.len()];
    let mut is_reached = vec![false; code.len()];
    for (at, instruction) in code.iter().enumerate() {
        let below = Some(at + 1).filter(|below| *below < code.len());
        after[at] = match instruction.next() {
            Next::Below if instruction.callee().is_some_and(|callee| diverges(&callee)) => Vec::new(),
            Next::Below => below.into_iter().collect(),
            Next::Jump { target, conditional } => {
                place(target).into_iter().chain(below.filter(|_| conditional)).collect()
            }
            Next::Leaves | Next::Table => Vec::new(),
        };
        after[at].iter().for_each(|next| is_reached[*next] = true);
    }
    // The listing does not show the tables: their entries are what nothing else reaches.
    let entries: Vec<usize> = (1..code.len()).filter(|at| !is_reached[*at]).collect();
    for (at, instruction) in code.iter().enumerate() {
        if instruction.next() == Next::Table {
            after[at].clone_from(&entries);
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One instruction per address, from 0.
    fn loops(lines: &[&str]) -> Vec<usize> {
        let code: Vec<_> = lines.iter().enumerate().map(|(at, text)| Instruction::new(at as u64, text)).collect();
        in_loops(&code).into_iter().enumerate().filter(|(_, looping)| *looping).map(|(at, _)| at).collect()
    }

    #[test]
    fn straight_code_has_none() {
        assert!(loops(&["mov a,b", "je 3 <f+0x3>", "mov a,b", "ret"]).is_empty());
        assert!(loops(&[]).is_empty());
    }

    #[test]
    fn nested_and_single() {
        assert_eq!(loops(&["mov a,b", "mov a,b", "add a,b", "jne 2 <f>", "jne 1 <f>", "ret"]), [1, 2, 3, 4]);
        assert_eq!(loops(&["mov a,b", "jne 1 <f>", "ret"]), [1]);
    }

    #[test]
    fn rare_code_at_the_end_is_no_loop() {
        // The jump at 5 goes back, but nothing comes from there to 5 again.
        assert!(loops(&["je 4 <f>", "mov a,b", "mov a,b", "ret", "mov a,b", "jmp 2 <f>"]).is_empty());
    }

    #[test]
    fn rotated_loops() {
        assert_eq!(loops(&["jmp 3 <f>", "ret", "add a,b", "cmp a,b", "jne 2 <f>", "jmp 1 <f>"]), [2, 3, 4]);
    }

    #[test]
    fn jump_tables() {
        let code = ["mov a,b", "jmp *%rax", "add a,b", "jmp 6 <f>", "sub a,b", "jmp 6 <f>", "jne 0 <f>", "ret"];
        assert_eq!(loops(&code), [0, 1, 2, 3, 4, 5, 6]);
    }
}
