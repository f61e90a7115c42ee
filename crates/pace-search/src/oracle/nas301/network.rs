//! [`Nas301Network`]: the small network that YAHPO Gym trained on the results of NAS-Bench-301.

use pace_graph::dataset::Genotype;

use super::encoding::{Encoding, N_CODES};
use super::onnx::Tensors;
use crate::error::Error;
use crate::perceptron::dot;

/// Number of codes and length of the embeddings, in the order of [`Encoding`].
const EDGE: (usize, usize) = (8, 10);
const PAIRS: [(usize, usize); 3] = [(4, 6), (7, 10), (11, 12)];
/// The lengths of all embeddings, and 1 for the epoch.
const N_INPUTS: usize = 337;
const N_OUTPUTS: usize = 2;
const DEEP: [usize; 4] = [N_INPUTS, 512, 512, N_OUTPUTS];
const DEEPER: [usize; 6] = [N_INPUTS, 256, 256, 128, 128, N_OUTPUTS];
/// Accuracies are predicted for this epoch, the last one of the benchmark.
const EPOCH: f32 = 98.0;
/// 1/52, the highest fidelity that the network was trained with.
const EPOCH_SCALE: f32 = 0.019_230_77;
const SELU_ALPHA: f32 = 1.673_263_2;
const SELU_GAMMA: f32 = 1.050_701;

/// Wide & deep regression on categorical choices (Pfisterer et al. 2022, "YAHPO Gym").
///
/// ```text
/// x = (e_1[c_1], ..., e_34[c_34], epoch / 52),   accuracy = 100 sigmoid(wide(x) + deep(x) + deeper(x))
/// ```
///
/// with one, three and five layers and SELU between them. The weights are read from the published ONNX file. This is a port,
/// not an ONNX runtime: a file with other tensors is an error. The second output, the training time, is not computed.
#[derive(Clone, Debug)]
pub struct Nas301Network {
    encoding: Encoding,
    /// The 34 tables, with the length of their rows.
    embeddings: Vec<(usize, Vec<f32>)>,
    branches: [Vec<Layer>; 3],
}

/// `W x + b`, W row by row.
#[derive(Clone, Debug)]
struct Layer {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Nas301Network {
    /// Reads the bytes of the ONNX file and the text of its `encoding.json`. Error messages name `file` and `encoding_file`.
    pub fn read(onnx: &[u8], file: &str, encoding: &str, encoding_file: &str) -> Result<Nas301Network, Error> {
        let sizes = sizes();
        let encoding = Encoding::parse(encoding, encoding_file, &sizes.map(|(n_codes, _)| n_codes))?;
        let mut tensors = Tensors::parse(onnx, file)?;
        let embed = |(index, &(n_codes, length)): (usize, &(usize, usize))| {
            Ok((length, tensors.take(&format!("embds_fct.{index}.weight"), &[n_codes, length])?))
        };
        let embeddings = sizes.iter().enumerate().map(embed).collect::<Result<Vec<_>, Error>>()?;
        let mut branch = |name: &str, sizes: &[usize]| {
            let last = sizes.len() - 2;
            let layer = |(index, size): (usize, &[usize])| {
                // Hidden layers stand behind their dropout, which has number 0; the last one has none.
                let place = if index == last { 0 } else { 1 };
                let name = if name == "wide" { "wide.0".to_owned() } else { format!("{name}.{index}.{place}") };
                let weights = tensors.take(&format!("{name}.weight"), &[size[1], size[0]])?;
                Ok(Layer { weights, bias: tensors.take(&format!("{name}.bias"), &[size[1]])? })
            };
            sizes.windows(2).enumerate().map(layer).collect::<Result<Vec<Layer>, Error>>()
        };
        let branches = [branch("wide", &[N_INPUTS, N_OUTPUTS])?, branch("deep", &DEEP)?, branch("deeper", &DEEPER)?];
        Ok(Nas301Network { encoding, embeddings, branches })
    }

    /// The predicted validation accuracy of a pair of cells after 98 epochs, in percent.
    pub fn predict(&self, genotype: &Genotype) -> Result<f64, pace_graph::Error> {
        let codes = self.encoding.codes(genotype)?;
        let embedded =
            self.embeddings.iter().zip(codes).flat_map(|((length, table), code)| &table[code * length..][..*length]);
        let input: Vec<f32> = embedded.copied().chain([EPOCH * EPOCH_SCALE]).collect();
        let logit: f32 = self.branches.iter().map(|branch| first_output(branch, &input)).sum();
        Ok(100.0 / (1.0 + (-f64::from(logit)).exp()))
    }
}

/// Number of codes and length of each of the 34 embeddings.
pub(super) fn sizes() -> [(usize, usize); N_CODES] {
    std::array::from_fn(|column| if column < 28 { EDGE } else { PAIRS[(column - 28) % 3] })
}

fn first_output(branch: &[Layer], input: &[f32]) -> f32 {
    let (last, hidden) = branch.split_last().expect("every branch has a layer");
    let mut values = input.to_vec();
    for layer in hidden {
        let rows = layer.weights.chunks_exact(values.len()).zip(&layer.bias);
        values = rows.map(|(row, bias)| selu(dot(row, &values) + bias)).collect();
    }
    dot(&last.weights[..values.len()], &values) + last.bias[0]
}

fn selu(z: f32) -> f32 {
    SELU_GAMMA * if z > 0.0 { z } else { SELU_ALPHA * z.exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::super::onnx::tests::onnx;
    use super::*;

    /// Codes of all columns, as the published file has them but shorter in their names' order.
    fn encoding_text() -> String {
        let ops = r##"{"#na#": 0, "max_pool_3x3": 1, "avg_pool_3x3": 2, "skip_connect": 3, "sep_conv_3x3": 4, "sep_conv_5x5": 5, "dil_conv_3x3": 6, "dil_conv_5x5": 7}"##;
        let prefix = "NetworkSelectorDatasetInfo_COLON_darts_COLON_";
        let mut tables = Vec::new();
        for cell in ["normal", "reduce"] {
            tables.extend((0..14).map(|edge| format!("\"{prefix}edge_{cell}_{edge}\": {ops}")));
            for node in 3..6 {
                let pairs = (1..node).flat_map(|high| (0..high).map(move |low| (low, high)));
                let codes: Vec<String> =
                    pairs.enumerate().map(|(code, (low, high))| format!("\"{low}_{high}\": {}", code + 1)).collect();
                tables.push(format!("\"{prefix}inputs_node_{cell}_{node}\": {{{}}}", codes.join(", ")));
            }
        }
        format!("{{{}}}", tables.join(", "))
    }

    /// A network of zeros, apart from what `set` puts in.
    fn network(set: impl Fn(&str, &mut [f32])) -> Nas301Network {
        let mut shapes: Vec<(String, Vec<usize>)> = sizes()
            .iter()
            .enumerate()
            .map(|(index, &(n_codes, length))| (format!("embds_fct.{index}.weight"), vec![n_codes, length]))
            .collect();
        let mut layer = |name: String, n_in: usize, n_out: usize| {
            shapes.push((format!("{name}.weight"), vec![n_out, n_in]));
            shapes.push((format!("{name}.bias"), vec![n_out]));
        };
        layer("wide.0".to_owned(), N_INPUTS, N_OUTPUTS);
        for (branch, sizes) in [("deep", &DEEP[..]), ("deeper", &DEEPER[..])] {
            let last = sizes.len() - 2;
            for (index, size) in sizes.windows(2).enumerate() {
                layer(format!("{branch}.{index}.{}", usize::from(index != last)), size[0], size[1]);
            }
        }
        let tensors = shapes.into_iter().map(|(name, shape)| {
            let mut values = vec![0.0; shape.iter().product()];
            set(&name, &mut values);
            (name, shape, values)
        });
        Nas301Network::read(&onnx(tensors), "my.onnx", &encoding_text(), "my.json").unwrap()
    }

    fn genotype() -> Genotype {
        let text = "[[(0, 0), (1, 5), (1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (3, 2)], \
                    [(1, 0), (0, 2), (1, 3), (0, 3), (3, 0), (0, 1), (2, 0), (3, 6)]]";
        text.parse().unwrap()
    }

    fn accuracy(logit: f64) -> f64 {
        100.0 / (1.0 + (-logit).exp())
    }

    #[test]
    fn sizes_add_up() {
        assert_eq!(sizes().iter().map(|(_, length)| length).sum::<usize>() + 1, N_INPUTS);
    }

    #[test]
    fn branches_add_up_before_the_sigmoid() {
        let biases = network(|name, values| match name {
            "wide.0.bias" => values[0] = 1.0,
            "deep.2.0.bias" => values[0] = 0.5,
            "deeper.4.0.bias" => values[0] = -0.25,
            "wide.0.weight" => values[N_INPUTS - 1] = 1.0, // of the epoch
            _ => {}
        });
        let found = biases.predict(&genotype()).unwrap();
        assert!((found - accuracy(1.25 + 98.0 / 52.0)).abs() < 1e-4, "{found}");
    }

    #[test]
    fn hidden_layers_are_selu() {
        let hidden = network(|name, values| match name {
            "deep.0.1.bias" => values[0] = -1.0,
            "deep.1.1.weight" => values[0] = 2.0,
            "deep.2.0.weight" => values[0] = 3.0,
            _ => {}
        });
        let selu = |z: f64| 1.050_701 * if z > 0.0 { z } else { 1.673_263 * (z.exp() - 1.0) };
        let found = hidden.predict(&genotype()).unwrap();
        assert!((found - accuracy(3.0 * selu(2.0 * selu(-1.0)))).abs() < 1e-4, "{found}");
    }

    #[test]
    fn columns_stand_in_numeric_order() {
        // Normal edge 10 reads state 1 into the last node by sep_conv_3x3 (code 4); its rows are inputs 100..110.
        let column = network(|name, values| match name {
            "embds_fct.10.weight" => values[4 * 10] = 1.0,
            "wide.0.weight" => values[100] = 2.0,
            _ => {}
        });
        assert!((column.predict(&genotype()).unwrap() - accuracy(2.0)).abs() < 1e-4);
        // The last column: inputs 2 and 3 of the last reduction node, the sixth pair.
        let pair = network(|name, values| match name {
            "embds_fct.33.weight" => values[6 * 12 + 11] = 1.0,
            "wide.0.weight" => values[N_INPUTS - 2] = -2.0,
            _ => {}
        });
        assert!((pair.predict(&genotype()).unwrap() - accuracy(-2.0)).abs() < 1e-4);
    }
}
