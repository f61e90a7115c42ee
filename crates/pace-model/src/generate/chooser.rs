//! Drawing operations and sets of in-edges from logits, freely or under a rule.

use pace_graph::{EdgeRule, Pick};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::options::Choice;

/// Makes the choices of one graph.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    /// `None`: greedy.
    rng: Option<ChaCha8Rng>,
    temperature: f64,
}

impl Chooser {
    /// For graph number `graph` of a run.
    ///
    /// # Panics
    /// If the temperature is not positive.
    pub fn new(choice: Choice, graph: u64) -> Chooser {
        match choice {
            Choice::Greedy => Chooser { rng: None, temperature: 1.0 },
            Choice::Sample { seed, temperature } => {
                assert!(temperature > 0.0, "temperature {temperature} is not above 0; Choice::Greedy is the limit");
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                // The cipher's own counter space: streams of one seed never overlap.
                rng.set_stream(graph);
                Chooser { rng: Some(rng), temperature }
            }
        }
    }

    /// An allowed category from softmax(logits / temperature), or the likeliest.
    ///
    /// # Panics
    /// If none is allowed.
    pub fn category(&mut self, logits: &[f32], allowed: impl Fn(usize) -> bool) -> usize {
        let candidates = || (0..logits.len()).filter(|&category| allowed(category));
        let logit = |category: usize| f64::from(logits[category]) / self.temperature;
        // The first of equals, as argmax has it.
        let better = |best: usize, other: usize| if logit(other) > logit(best) { other } else { best };
        let likeliest = candidates().reduce(better).expect("every rule allows something");
        let Some(rng) = &mut self.rng else { return likeliest };
        let weight = |category: usize| (logit(category) - logit(likeliest)).exp();
        let mut left = rng.random::<f64>() * candidates().map(weight).sum::<f64>();
        for category in candidates() {
            left -= weight(category);
            if left < 0.0 {
                return category;
            }
        }
        likeliest // rounding ate the last bit
    }

    /// Yes with probability sigmoid(logit / temperature), or the likelier answer. A forced answer draws nothing.
    pub fn yes(&mut self, logit: f32, may_yes: bool, may_no: bool) -> bool {
        let logit = f64::from(logit) / self.temperature;
        match (may_yes && may_no, &mut self.rng) {
            (false, _) => may_yes,
            (true, None) => logit > 0.0,
            (true, Some(rng)) => rng.random::<f64>() < 1.0 / (1.0 + (-logit).exp()),
        }
    }

    /// A set of in-edges, ascending, from independent Bernoullis of probability sigmoid(logit / temperature) given that
    /// the rule holds, or the likeliest such set. Both exactly; of equally likely sets, the one without the earlier nodes.
    ///
    /// Sets A of optional nodes have weight exp(sum of their logits). With S_i(c, q) the total weight (greedy: the largest)
    /// of the ways to continue at node i with c optional and q costly ones taken,
    ///
    /// ```text
    /// S_i(c, q) = S_{i+1}(c, q) + exp(l_i) S_{i+1}(c + 1, q + costly_i)
    /// ```
    ///
    /// and node i is taken with the second term's share. In logarithms; O(n * min * costly), O(n) without limits.
    pub fn edges(&mut self, logits: &[f32], rule: &EdgeRule) -> Vec<usize> {
        debug_assert_eq!(logits.len(), rule.picks.len());
        let n_optional = rule.picks.iter().filter(|pick| pick.is_optional()).count();
        let n_costly = rule.picks.iter().filter(|&&pick| pick == Pick::Costly).count();
        let table = Table {
            // Beyond the minimum, a count matters only if there is a maximum to reach.
            counts: if rule.max >= n_optional { rule.min.min(n_optional) } else { rule.max },
            bounded: rule.max < n_optional,
            costs: if rule.max_costly >= n_costly { 0 } else { rule.max_costly },
            counts_costs: rule.max_costly < n_costly,
        };
        let weight = |node: usize| f64::from(logits[node]) / self.temperature;
        let totals = table.totals(rule, weight, self.rng.is_none());
        let (mut state, mut chosen) = ((0, 0), Vec::new());
        for (node, &pick) in rule.picks.iter().enumerate() {
            let take = match pick {
                Pick::Never => false,
                Pick::Must => true,
                Pick::May | Pick::Costly => {
                    let after = &totals[(node + 1) * table.len()..];
                    let next = table.next(state, pick == Pick::Costly);
                    let skip = after[table.index(state)];
                    let take = next.map_or(f64::NEG_INFINITY, |next| weight(node) + after[table.index(next)]);
                    let taken = match &mut self.rng {
                        None => take > skip,
                        // take / (take + skip)
                        Some(rng) => rng.random::<f64>() < 1.0 / (1.0 + (skip - take).exp()),
                    };
                    if taken && let Some(next) = next {
                        state = next;
                    }
                    taken && next.is_some()
                }
            };
            if take {
                chosen.push(node);
            }
        }
        chosen
    }
}

/// The states of [`Chooser::edges`]: optional and costly nodes taken so far, counted as far as the rule can tell.
struct Table {
    counts: usize,
    /// More than `counts` are not allowed, rather than not counted.
    bounded: bool,
    costs: usize,
    counts_costs: bool,
}

impl Table {
    fn index(&self, (count, cost): (usize, usize)) -> usize {
        count * (self.costs + 1) + cost
    }

    /// The state after taking a node, if that is allowed.
    fn next(&self, (count, cost): (usize, usize), costly: bool) -> Option<(usize, usize)> {
        let cost = if costly && self.counts_costs { cost + 1 } else { cost };
        if cost > self.costs || (count == self.counts && self.bounded) {
            return None;
        }
        Some(((count + 1).min(self.counts), cost))
    }

    fn len(&self) -> usize {
        (self.counts + 1) * (self.costs + 1)
    }

    /// log S_i of every node and state, and of the end; node after node.
    fn totals(&self, rule: &EdgeRule, weight: impl Fn(usize) -> f64, greedy: bool) -> Vec<f64> {
        let (n, len) = (rule.picks.len(), self.len());
        let states = || (0..=self.counts).flat_map(|count| (0..=self.costs).map(move |cost| (count, cost)));
        let mut totals = vec![0.0; (n + 1) * len];
        for state in states().filter(|&(count, _)| count < rule.min.min(self.counts)) {
            totals[n * len + self.index(state)] = f64::NEG_INFINITY;
        }
        for (node, &pick) in rule.picks.iter().enumerate().rev() {
            let (before, after) = totals.split_at_mut((node + 1) * len);
            let row = &mut before[node * len..];
            for state in states() {
                let skip = after[self.index(state)];
                let next = match pick {
                    Pick::Never | Pick::Must => None,
                    Pick::May | Pick::Costly => self.next(state, pick == Pick::Costly),
                };
                row[self.index(state)] = match next.map(|next| weight(node) + after[self.index(next)]) {
                    None => skip,
                    Some(take) if greedy => skip.max(take),
                    Some(take) => log_sum(skip, take),
                };
            }
        }
        totals
    }
}

/// log(exp(a) + exp(b)).
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use pace_graph::{EdgeProgress, EdgeRule, Pick};

    use super::Chooser;
    use crate::decoder::Choice;

    const LOGITS: [f32; 6] = [-1.5, 0.4, 1.1, -0.2, 0.9, -3.0];

    fn rules() -> Vec<EdgeRule> {
        use Pick::{Costly, May, Must, Never};
        let mixed = vec![May, Costly, Costly, Never, Costly, Must];
        vec![
            EdgeRule::any(vec![May; 6]),
            EdgeRule::any(mixed.clone()),
            EdgeRule::exactly(1, 6, |_| true),
            EdgeRule::exactly(2, 6, |node| node != 2),
            EdgeRule { min: 1, ..EdgeRule::any(vec![May, Never, Never, May, Never, May]) },
            EdgeRule { max_costly: 1, ..EdgeRule::any(mixed.clone()) },
            EdgeRule { min: 1, max_costly: 0, ..EdgeRule::any(mixed.clone()) },
            EdgeRule { min: 1, max: 3, max_costly: 2, ..EdgeRule::any(mixed) },
        ]
    }

    fn holds(rule: &EdgeRule, set: u32) -> bool {
        let count = |kinds: &[Pick]| {
            (0..6).filter(|&node| set >> node & 1 == 1 && kinds.contains(&rule.picks[node as usize])).count()
        };
        let optional = count(&[Pick::May, Pick::Costly]);
        let musts = rule.picks.iter().filter(|&&pick| pick == Pick::Must).count();
        count(&[Pick::Never]) == 0
            && count(&[Pick::Must]) == musts
            && (rule.min..=rule.max).contains(&optional)
            && count(&[Pick::Costly]) <= rule.max_costly
    }

    /// The probability of each of the 64 sets: product of Bernoullis, given that the rule holds.
    fn probabilities(rule: &EdgeRule) -> Vec<f64> {
        let weight = |set: u32| -> f64 {
            (0..6).filter(|&node| set >> node & 1 == 1).map(|node| f64::from(LOGITS[node]).exp()).product()
        };
        let weights: Vec<f64> = (0..64).map(|set| if holds(rule, set) { weight(set) } else { 0.0 }).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    fn set_of(chosen: &[usize]) -> usize {
        chosen.iter().map(|node| 1 << node).sum()
    }

    #[test]
    fn greedy_edges_are_the_mode_of_the_conditional_distribution() {
        for rule in rules() {
            let found = set_of(&Chooser::new(Choice::Greedy, 0).edges(&LOGITS, &rule));
            let p = probabilities(&rule);
            assert!(p.iter().all(|&other| other <= p[found]), "{rule:?}: {found:06b}");
        }
    }

    #[test]
    fn sampled_edges_follow_the_conditional_distribution() {
        const DRAWS: usize = 20_000;
        for (index, rule) in rules().iter().enumerate() {
            let mut counts = [0_usize; 64];
            let mut chooser = Chooser::new(Choice::sample(7), index as u64);
            (0..DRAWS).for_each(|_| counts[set_of(&chooser.edges(&LOGITS, rule))] += 1);
            for (set, (&count, p)) in counts.iter().zip(probabilities(rule)).enumerate() {
                let spread = (p * (1.0 - p) / DRAWS as f64).sqrt();
                let error = (count as f64 / DRAWS as f64 - p).abs();
                assert!(error <= 5.0 * spread, "{rule:?}: set {set:06b} has probability {p}, seen {count}");
            }
        }
    }

    #[test]
    fn extreme_logits_neither_overflow_nor_break_a_rule() {
        let logits = [3e4, -3e4, 3e4, -3e4, 3e4, -3e4_f32];
        for choice in [Choice::Greedy, Choice::sample(1)] {
            for rule in rules() {
                let set = set_of(&Chooser::new(choice, 3).edges(&logits, &rule));
                assert!(holds(&rule, set as u32), "{rule:?}: {set:06b}");
            }
        }
    }

    #[test]
    fn temperature_moves_sampling_towards_greedy() {
        let mut cold = Chooser::new(Choice::Sample { seed: 3, temperature: 1e-3 }, 0);
        let mut greedy = Chooser::new(Choice::Greedy, 0);
        let allowed = |category| category != 2;
        assert_eq!(greedy.category(&LOGITS, allowed), 4);
        for _ in 0..50 {
            assert_eq!(cold.category(&LOGITS, allowed), 4);
            let rule = EdgeRule::exactly(2, 6, |_| true);
            assert_eq!(cold.edges(&LOGITS, &rule), greedy.edges(&LOGITS, &rule));
        }
    }

    /// Decided in any order, exactly the sets that hold can come out.
    #[test]
    fn progress_reaches_every_set_of_a_rule_and_no_other() {
        fn explore(progress: &EdgeProgress, order: &[usize], set: u32, found: &mut [bool; 64]) {
            let Some((&node, rest)) = order.split_first() else {
                found[set as usize] = true;
                return;
            };
            assert!(progress.may_take(node) || progress.may_leave(node), "a dead end");
            for take in [false, true] {
                if if take { progress.may_take(node) } else { progress.may_leave(node) } {
                    let mut next = progress.clone();
                    next.decide(node, take);
                    explore(&next, rest, set | u32::from(take) << node, found);
                }
            }
        }
        for rule in rules() {
            for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 3, 1, 4]] {
                let mut found = [false; 64];
                explore(&EdgeProgress::new(rule.clone()), &order, 0, &mut found);
                for set in 0..64 {
                    assert_eq!(found[set as usize], holds(&rule, set), "{rule:?}: set {set:06b}");
                }
            }
        }
    }
}
