//! The real networks of the data folder, if it is at hand.

use pace_checkout::data_with;
use pace_formats::{Format, GraphFormat, ReadOptions, Summary};
use pace_graph::Named;
use pace_graph::dataset::DataDir;

fn read(dir: &DataDir, format: Format, folder: &str, file: &str, options: &ReadOptions) -> (Named, Summary) {
    let mut graphs = Vec::new();
    let mut reader = dir.open(folder, file).unwrap();
    let summary = format
        .read(&mut *reader, file, options, &mut |graph| {
            graphs.push(graph);
            Ok(())
        })
        .unwrap();
    assert_eq!(graphs.len(), 1);
    (graphs.remove(0), summary)
}

#[test]
fn bayesian_networks() {
    const FILES: [(&str, &str); 5] =
        [("bif", "asia.bif"), ("bif", "cancer.bif"), ("bif", "sachs.bif"), ("bif", "child.bif"), ("bif", "alarm.bif")];
    // Nodes and arcs as the bnlearn repository counts them.
    let known = [("asia", 8, 8), ("cancer", 5, 4), ("sachs", 11, 17), ("child", 20, 25), ("alarm", 37, 46)];
    let Some(dir) = data_with(&FILES) else { return };
    for (name, n_nodes, n_edges) in known {
        let (graph, _) = read(&dir, Format::Bif, "bif", &format!("{name}.bif"), &ReadOptions::default());
        assert_eq!((graph.ops.len(), graph.edges.len()), (n_nodes, n_edges), "{name}");
        let inferred = pace_graph::infer(name, std::slice::from_ref(&graph)).unwrap();
        graph.dag(&inferred.spec).unwrap();
    }
    let (asia, _) = read(&dir, Format::Bif, "bif", "asia.bif", &ReadOptions::default());
    let arc = |&(from, to): &(usize, usize)| format!("{}>{}", asia.ops[from], asia.ops[to]);
    assert!(asia.edges.iter().map(arc).any(|arc| arc == "smoke>lung"));
}

#[test]
fn neural_networks() {
    // As a few lines with the Python package `onnx` count them: nodes that read more than constants, and pairs that a tensor joins.
    let known = [
        ("light_bvlc_alexnet.onnx", 24, 23),
        ("light_densenet121.onnx", 668, 725),
        ("light_inception_v1.onnx", 143, 169),
        ("light_inception_v2.onnx", 371, 398),
        ("light_resnet50.onnx", 176, 191),
        ("light_shufflenet.onnx", 203, 218),
        ("light_squeezenet.onnx", 66, 73),
        ("light_vgg19.onnx", 46, 45),
        ("light_zfnet512.onnx", 22, 21),
    ];
    let Some(dir) = data_with(&known.map(|(file, ..)| ("onnx_light", file))) else { return };
    for (file, n_nodes, n_edges) in known {
        let (graph, summary) = read(&dir, Format::Onnx, "onnx_light", file, &ReadOptions::default());
        assert_eq!((graph.ops.len(), graph.edges.len()), (n_nodes, n_edges), "{file}");
        assert!(graph.ops.iter().any(|op| op == "Conv"));
        assert_eq!(summary.ops_from.keys().flatten().collect::<Vec<_>>(), ["op_type"]);
        let inferred = pace_graph::infer(file, std::slice::from_ref(&graph)).unwrap();
        graph.dag(&inferred.spec).unwrap();
        let whole = ReadOptions { keep_constants: true, keep_ends: true, ..ReadOptions::default() };
        let (whole, _) = read(&dir, Format::Onnx, "onnx_light", file, &whole);
        assert!(whole.ops.len() > n_nodes && whole.ops.iter().any(|op| op == "Output"));
    }
}
