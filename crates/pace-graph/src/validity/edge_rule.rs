//! [`EdgeRule`]: which sets of in-edges a new node may have.

/// What a set of in-edges may say about one earlier node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Not in the set.
    Never,
    /// In the set or not.
    May,
    /// The same, and it counts towards [`EdgeRule::max_costly`].
    Costly,
    /// In the set.
    Must,
}

impl Pick {
    /// Whether both answers are allowed.
    pub fn is_optional(self) -> bool {
        matches!(self, Pick::May | Pick::Costly)
    }
}

/// Which sets of in-edges a new node may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeRule {
    /// One per real node so far.
    pub picks: Vec<Pick>,
    /// At least so many of the optional ones ([`Pick::May`] and [`Pick::Costly`]).
    pub min: usize,
    /// At most so many of the optional ones.
    pub max: usize,
    /// At most so many of the costly ones.
    pub max_costly: usize,
}

impl EdgeRule {
    /// Any set that agrees with the picks.
    pub fn any(picks: Vec<Pick>) -> EdgeRule {
        EdgeRule { picks, min: 0, max: usize::MAX, max_costly: usize::MAX }
    }

    /// Exactly `count` of the nodes for which `may` holds.
    pub fn exactly(count: usize, n_nodes: usize, may: impl Fn(usize) -> bool) -> EdgeRule {
        let picks = (0..n_nodes).map(|node| if may(node) { Pick::May } else { Pick::Never }).collect();
        EdgeRule { min: count, max: count, ..EdgeRule::any(picks) }
    }
}

/// An [`EdgeRule`] while its nodes are decided one by one, in any order.
///
/// A decision is allowed iff the others can still be made such that the rule holds.
///
/// ```
/// use pace_graph::{EdgeProgress, EdgeRule};
/// let mut progress = EdgeProgress::new(EdgeRule::exactly(1, 2, |_| true));
/// progress.decide(0, false);
/// assert!(progress.may_take(1) && !progress.may_leave(1)); // the last chance
/// ```
#[derive(Clone, Debug)]
pub struct EdgeProgress {
    rule: EdgeRule,
    decided: Vec<bool>,
    /// Optional nodes taken.
    taken: usize,
    /// Costly ones among them.
    costly: usize,
}

impl EdgeProgress {
    /// Nothing is decided yet.
    pub fn new(rule: EdgeRule) -> EdgeProgress {
        EdgeProgress { decided: vec![false; rule.picks.len()], rule, taken: 0, costly: 0 }
    }

    /// Whether the set may contain an undecided node; false for a decided one.
    pub fn may_take(&self, node: usize) -> bool {
        !self.decided[node]
            && match self.rule.picks[node] {
                Pick::Never => false,
                Pick::Must => true,
                Pick::May => self.taken < self.rule.max,
                Pick::Costly => self.taken < self.rule.max && self.costly < self.rule.max_costly,
            }
    }

    /// Whether the set may do without an undecided node; false for a decided one.
    pub fn may_leave(&self, node: usize) -> bool {
        !self.decided[node]
            && match self.rule.picks[node] {
                Pick::Never => true,
                Pick::Must => false,
                Pick::May | Pick::Costly => self.taken + self.left(node) >= self.rule.min,
            }
    }

    /// Whether all undecided nodes may be left out.
    pub fn may_stop(&self) -> bool {
        let musts = self.rule.picks.iter().zip(&self.decided).any(|(&pick, decided)| pick == Pick::Must && !decided);
        !musts && self.taken >= self.rule.min
    }

    /// Records a decision.
    ///
    /// # Panics
    /// If it is not allowed.
    pub fn decide(&mut self, node: usize, take: bool) {
        let allowed = if take { self.may_take(node) } else { self.may_leave(node) };
        assert!(allowed, "the edge from node {node} may not be decided as {take} under {:?}", self.rule);
        self.decided[node] = true;
        let pick = self.rule.picks[node];
        self.taken += usize::from(take && pick.is_optional());
        self.costly += usize::from(take && pick == Pick::Costly);
    }

    /// How many more optional nodes can be taken after one is left out.
    fn left(&self, except: usize) -> usize {
        let undecided = |kind: Pick| {
            let of_kind = |&(node, pick): &(usize, &Pick)| *pick == kind && node != except && !self.decided[node];
            self.rule.picks.iter().enumerate().filter(of_kind).count()
        };
        undecided(Pick::May) + undecided(Pick::Costly).min(self.rule.max_costly - self.costly)
    }
}
