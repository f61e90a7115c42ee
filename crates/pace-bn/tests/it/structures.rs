//! Structures, their classes and distances, against enumeration.

use std::collections::{BTreeSet, HashMap};

use pace_bn::{Confusion, Cpdag, Link, Structure, shd, shd_dags};

use crate::support::all_structures;

/// Linked pairs, and colliders.
type Signature = (BTreeSet<(u16, u16)>, BTreeSet<(u16, u16, u16)>);

/// What decides the class (Verma & Pearl 1990): the linked pairs, and the colliders whose parents are not linked.
fn signature(structure: &Structure) -> Signature {
    let linked: BTreeSet<(u16, u16)> = structure.arcs().map(|(a, b)| (a.min(b), a.max(b))).collect();
    let mut colliders = BTreeSet::new();
    for child in 0..structure.n_variables() as u16 {
        let parents = structure.parents(child);
        for (at, &a) in parents.iter().enumerate() {
            colliders.extend(parents[at + 1..].iter().filter(|&&b| !linked.contains(&(a, b))).map(|&b| (a, b, child)));
        }
    }
    (linked, colliders)
}

#[test]
fn a_class_has_the_arcs_that_all_its_members_have() {
    let mut members: HashMap<_, Vec<Structure>> = HashMap::new();
    for structure in all_structures(4) {
        members.entry(signature(&structure)).or_default().push(structure);
    }
    assert_eq!(members.len(), 185);
    for members in members.values() {
        let class = Cpdag::of(&members[0]);
        assert!(members.iter().all(|member| Cpdag::of(member) == class));
        for a in 0..4 {
            for b in (0..4).filter(|&b| b != a) {
                let n = members.iter().filter(|member| member.has_arc(a, b)).count();
                let back = members.iter().filter(|member| member.has_arc(b, a)).count();
                let wanted = match (n, back) {
                    (0, 0) => Link::None,
                    (_, 0) => Link::Arc,
                    (0, _) => Link::Reverse,
                    _ => Link::Edge,
                };
                assert_eq!(class.link(a, b), wanted, "{a} {b} in {members:?}");
            }
        }
    }
}

#[test]
fn distances_count_pairs() {
    let structure =
        |parents: [&[u16]; 3]| Structure::new(parents.iter().map(|parents| parents.to_vec()).collect()).unwrap();
    let (chain, back, collider) =
        (structure([&[], &[0], &[1]]), structure([&[1], &[2], &[]]), structure([&[], &[0, 2], &[]]));
    let classes = [&chain, &back, &collider].map(Cpdag::of);
    assert_eq!((shd(&classes[0], &classes[1]), shd_dags(&chain, &back)), (0, 2));
    assert_eq!((shd(&classes[0], &classes[2]), shd_dags(&chain, &collider)), (2, 1));
    let confusion = Confusion::of(&Cpdag::of(&structure([&[], &[0], &[0]])), &classes[0]);
    assert_eq!(confusion, Confusion { found: 1, missed: 1, invented: 1 });
}

#[test]
fn cycles_and_wrong_parents_are_refused() {
    assert!(Structure::new(vec![vec![1], vec![0]]).unwrap_err().to_string().contains("form a cycle"));
    assert!(Structure::new(vec![vec![0]]).is_err());
    assert!(Structure::new(vec![vec![], vec![0, 0]]).unwrap_err().to_string().contains("different numbers below 2"));
    assert!(Structure::new(vec![vec![7]]).is_err());
    let names = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let cycle = Structure::from_arcs(&names, [("a", "b"), ("b", "c"), ("c", "b")]).unwrap_err().to_string();
    assert!(cycle.contains("through 'b'") || cycle.contains("through 'c'"), "{cycle}");
    assert_eq!(
        Structure::from_arcs(&names, [("a", "z")]).unwrap_err().to_string(),
        "the table has no variable 'z'; compare networks and data over the same variables"
    );
    assert_eq!(Structure::from_arcs(&names, [("c", "a"), ("c", "a")]).unwrap().order(), [1, 2, 0]);
}

#[test]
fn structures_are_read_back_from_json() {
    let structure = Structure::new(vec![vec![2, 1], vec![], vec![1]]).unwrap();
    let text = serde_json::to_string(&structure).unwrap();
    assert_eq!(text, "[[1,2],[],[1]]");
    assert_eq!(serde_json::from_str::<Structure>(&text).unwrap(), structure);
    assert!(serde_json::from_str::<Structure>("[[1],[0]]").is_err());
}
