//! Generation over steppers whose distribution is known by enumeration.

use std::collections::HashMap;

use burn::tensor::{Device, Tensor};
use pace_graph::{Dag, DagSpec, Draft, EdgeRule, Op, Pick, Validity};

use super::policy::Policy;
use super::{DecodeOptions, EdgePicker, Edges, EdgesInTurn, Mode, NewNode, Stepper, Turns, generate};
use crate::batch::floats;
use crate::device::device;

/// How a toy decides about edges.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    AtOnce,
    InTurn(Turns),
    Picked,
}

/// Logits as functions of the graph so far, so that every decision changes what follows.
struct Toy {
    way: Way,
    n_ops: usize,
    /// Real nodes of the graphs that still grow.
    t: usize,
    count: usize,
    device: Device,
}

fn op_logit(draft: &Draft, op: usize) -> f32 {
    0.3 * op as f32 - 0.4 * draft.n_edges() as f32 + if op % 2 == draft.n_nodes() % 2 { 0.5 } else { 0.0 }
}

fn edge_logit(new: Option<&NewNode>, source: usize) -> f32 {
    let (op, sources) = new.map_or((0.0, 0.0), |new| (f32::from(new.op), new.sources.iter().sum::<usize>() as f32));
    0.7 - 0.4 * source as f32 + 0.2 * op - 0.8 * sources
}

fn pick_logit(new: &NewNode, pick: usize, t: usize) -> f32 {
    if pick == t { new.sources.len() as f32 - 0.3 } else { edge_logit(Some(new), pick) }
}

impl Stepper for Toy {
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2> {
        self.t = drafts.iter().map(Draft::n_nodes).max().unwrap();
        let logits = drafts.iter().flat_map(|draft| (0..self.n_ops).map(|op| op_logit(draft, op))).collect();
        floats(logits, [drafts.len(), self.n_ops], &self.device)
    }

    fn edges(&mut self) -> Edges<'_> {
        match self.way {
            Way::AtOnce => {
                let row: Vec<f32> = (0..self.t).map(|source| edge_logit(None, source)).collect();
                let shape = [self.count, self.t];
                Edges::AtOnce((self.t > 0).then(|| floats(row.repeat(self.count), shape, &self.device)))
            }
            Way::InTurn(_) => Edges::InTurn(self),
            Way::Picked => Edges::Picked(self),
        }
    }
}

impl EdgesInTurn for Toy {
    fn turns(&self) -> Turns {
        match self.way {
            Way::InTurn(turns) => turns,
            _ => unreachable!("asked in turn"),
        }
    }

    fn logits(&mut self, _drafts: &[Draft], new: &[Option<NewNode>], source: usize) -> Tensor<1> {
        let logits = new.iter().map(|new| edge_logit(new.as_ref(), source)).collect();
        floats(logits, [new.len()], &self.device)
    }
}

impl EdgePicker for Toy {
    fn logits(&mut self, _drafts: &[Draft], new: &[Option<NewNode>]) -> Tensor<2> {
        let t = self.t;
        let row = |new: &Option<NewNode>| -> Vec<f32> {
            (0..=t).map(|pick| new.as_ref().map_or(0.0, |new| pick_logit(new, pick, t))).collect()
        };
        floats(new.iter().flat_map(row).collect(), [new.len(), t + 1], &self.device)
    }
}

/// Whether a whole set keeps the rule.
fn holds(rule: &EdgeRule, set: &[bool]) -> bool {
    let count = |kinds: &[Pick], taken: bool| {
        rule.picks.iter().zip(set).filter(|&(pick, &take)| kinds.contains(pick) && take == taken).count()
    };
    count(&[Pick::Never], true) == 0
        && count(&[Pick::Must], false) == 0
        && (rule.min..=rule.max).contains(&count(&[Pick::May, Pick::Costly], true))
        && count(&[Pick::Costly], true) <= rule.max_costly
}

/// Whether some set that keeps the rule agrees with the decisions made.
fn feasible(rule: &EdgeRule, decided: &[Option<bool>]) -> bool {
    (0..1_u32 << decided.len()).any(|code| {
        let set: Vec<bool> = (0..decided.len()).map(|node| code >> node & 1 == 1).collect();
        decided.iter().zip(&set).all(|(decided, &take)| decided.is_none_or(|decision| decision == take))
            && holds(rule, &set)
    })
}

/// Every set of in-edges of a new node with its probability.
fn edge_sets(way: Way, rule: &EdgeRule, op: Op) -> Vec<(Vec<usize>, f64)> {
    let t = rule.picks.len();
    let sigmoid = |logit: f32| 1.0 / (1.0 + f64::from(-logit).exp());
    match way {
        Way::AtOnce => {
            let weight = |set: &[bool]| -> f64 {
                if !holds(rule, set) {
                    return 0.0;
                }
                // What must be taken is taken whatever its logit.
                let optional = (0..t).filter(|&node| set[node] && rule.picks[node].is_optional());
                optional.map(|node| f64::from(edge_logit(None, node)).exp()).product()
            };
            let sets: Vec<Vec<bool>> =
                (0..1_u32 << t).map(|code| (0..t).map(|node| code >> node & 1 == 1).collect()).collect();
            let total: f64 = sets.iter().map(|set| weight(set)).sum();
            let nodes = |set: &[bool]| (0..t).filter(|&node| set[node]).collect();
            sets.iter().map(|set| (nodes(set), weight(set) / total)).collect()
        }
        Way::InTurn(turns) => {
            let order: Vec<usize> = match turns {
                Turns::NewestFirst => (0..t).rev().collect(),
                Turns::OldestFirst => (0..t).collect(),
            };
            let mut partial = vec![(vec![None; t], Vec::new(), 1.0)];
            for source in order {
                let mut next = Vec::new();
                for (decided, sources, p) in partial {
                    let yes = sigmoid(edge_logit(Some(&NewNode { op, sources: sources.clone() }), source));
                    let with = |take: bool| {
                        let mut decided = decided.clone();
                        decided[source] = Some(take);
                        decided
                    };
                    let may = [false, true].map(|take| feasible(rule, &with(take)));
                    for take in [false, true].into_iter().filter(|&take| may[usize::from(take)]) {
                        let share = if may == [true, true] { if take { yes } else { 1.0 - yes } } else { 1.0 };
                        let taken = sources.iter().copied().chain(take.then_some(source)).collect();
                        next.push((with(take), taken, p * share));
                    }
                }
                partial = next;
            }
            partial.into_iter().map(|(_, sources, p)| (sources, p)).collect()
        }
        Way::Picked => {
            let mut found = Vec::new();
            let mut partial = vec![(Vec::new(), 1.0)];
            while let Some((sources, p)) = partial.pop() {
                if t == 0 {
                    found.push((sources, p));
                    continue;
                }
                let new = NewNode { op, sources: sources.clone() };
                let set: Vec<bool> = (0..t).map(|node| sources.contains(&node)).collect();
                let allowed = |pick: usize| {
                    if pick == t {
                        return holds(rule, &set);
                    }
                    let decided: Vec<Option<bool>> =
                        (0..t).map(|node| (set[node] || node == pick).then_some(true)).collect();
                    !set[pick] && feasible(rule, &decided)
                };
                let weight = |pick: usize| if allowed(pick) { f64::from(pick_logit(&new, pick, t)).exp() } else { 0.0 };
                let total: f64 = (0..=t).map(weight).sum();
                for pick in (0..=t).filter(|&pick| weight(pick) > 0.0) {
                    let p = p * weight(pick) / total;
                    match pick == t {
                        true => found.push((sources.clone(), p)),
                        false => partial.push((sources.iter().copied().chain([pick]).collect(), p)),
                    }
                }
            }
            found
        }
    }
}

/// Every graph that can come out, with its probability.
fn enumerate(way: Way, policy: &Policy, n_ops: usize, draft: &Draft, p: f64, found: &mut HashMap<Dag, f64>) {
    let weight = |op: usize| if policy.allows(draft, op as Op) { f64::from(op_logit(draft, op)).exp() } else { 0.0 };
    let total: f64 = (0..n_ops).map(weight).sum();
    for drawn in (0..n_ops).filter(|&op| weight(op) > 0.0) {
        let (op, next) = policy.next(draft, drawn as Op);
        for (mut sources, share) in edge_sets(way, &next.edges, op) {
            if share == 0.0 {
                continue;
            }
            sources.sort_unstable();
            let positions: Vec<usize> = sources.iter().map(|node| node + 1).collect();
            let mut grown = draft.clone();
            grown.push(op, &positions);
            let p = p * weight(drawn) / total * share;
            if next.last {
                *found.entry(grown.into_dag()).or_insert(0.0) += p;
            } else {
                enumerate(way, policy, n_ops, &grown, p, found);
            }
        }
    }
}

#[test]
fn every_way_to_decide_edges_has_the_enumerated_distribution() {
    const DRAWS: usize = 20_000;
    let device = device("").unwrap();
    let cell = DagSpec {
        input: Some(0),
        output: Some(2),
        max_edges: Some(4),
        validity: Validity::InputToOutput,
        ..DagSpec::new("cells", ["in", "op", "out"], 4)
    };
    let tree = DagSpec { validity: Validity::Tree, ..DagSpec::new("trees", ["a", "b"], 4) };
    let ways = [Way::AtOnce, Way::InTurn(Turns::NewestFirst), Way::InTurn(Turns::OldestFirst), Way::Picked];
    for (spec, mode) in [(&cell, Mode::Constrained), (&tree, Mode::Constrained), (&cell, Mode::Free)] {
        let started = spec.with_start_symbol();
        for way in ways {
            let mut expected = HashMap::new();
            let policy = Policy::new(&started, mode);
            enumerate(way, &policy, started.n_ops(), &Draft::new(&started), 1.0, &mut expected);
            assert!((expected.values().sum::<f64>() - 1.0).abs() < 1e-9);
            let mut toy = Toy { way, n_ops: started.n_ops(), t: 0, count: DRAWS, device: device.clone() };
            let mut counts = HashMap::new();
            for dag in generate(&mut toy, &started, DRAWS, &DecodeOptions::sample(mode, 5)) {
                assert!(mode != Mode::Constrained || spec.is_valid(&dag), "{way:?}: {dag}");
                *counts.entry(dag).or_insert(0) += 1;
            }
            assert!(counts.keys().all(|dag| expected.contains_key(dag)), "{way:?} {mode:?}: an impossible graph");
            for (dag, p) in expected {
                let found = f64::from(counts.get(&dag).copied().unwrap_or(0)) / DRAWS as f64;
                let spread = (p * (1.0 - p) / DRAWS as f64).sqrt();
                assert!((found - p).abs() < 5.0 * spread + 1e-4, "{way:?} {mode:?} {dag}: {p}, seen {found}");
            }
        }
    }
}

/// Greedy choices are the likelier ones at each decision, and the same every time.
#[test]
fn greedy_graphs_do_not_vary() {
    let device = device("").unwrap();
    let spec = DagSpec::nas101().with_start_symbol();
    for way in [Way::AtOnce, Way::InTurn(Turns::NewestFirst), Way::Picked] {
        let mut toy = Toy { way, n_ops: spec.n_ops(), t: 0, count: 3, device: device.clone() };
        let dags = generate(&mut toy, &spec, 3, &DecodeOptions::greedy(Mode::Constrained));
        assert!(dags.iter().all(|dag| *dag == dags[0] && DagSpec::nas101().is_valid(dag)), "{way:?}");
    }
}
