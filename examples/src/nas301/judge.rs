//! Who says how good a cell is: the published network, or the stand-in.

use std::io::Read;

use anyhow::{Result, ensure};
use pace_graph::dataset::{DartsPairs, DataDir};
use pace_search::oracle::{Nas301, Nas301Network, Nas301Surrogate, Oracle};
use pace_train::record::DataKind;

use crate::args::RunArgs;
use crate::progress::{rows_bar, rows_seen};

const FOLDER: &str = "nasbench301";
const NETWORK: &str = "yahpo_nb301_v1_wide_deep.onnx";
const ENCODING: &str = "encoding.json";
const PAIRS: &str = "pairs_1218_naslib.csv";
/// The spread of the stand-in's noise, in percent: what the real oracle misses its records by.
const EMBEDDED_NOISE: f64 = 0.23;

/// Who says how good a cell is.
pub struct Judge {
    /// Accuracies in percent.
    pub oracle: Box<dyn Oracle>,
    /// The spread of its noise, in percent.
    pub noise: f64,
    /// Published data or made here.
    pub kind: DataKind,
    /// The same in plain words.
    pub note: String,
}

/// The published network if it is at hand, else the stand-in.
///
/// # Errors
/// A file that cannot be read, or an asked-for folder without it.
pub fn judge(args: &RunArgs) -> Result<Judge> {
    let dir = args.data_dir();
    if [NETWORK, ENCODING, PAIRS].iter().any(|file| dir.find(FOLDER, file).is_none()) {
        ensure!(args.data.is_none(), "{NETWORK}, {ENCODING} and {PAIRS} are not in the folder given with --data");
        let oracle = Nas301Surrogate::embedded();
        let note = format!(
            "embedded stand-in, not NAS-Bench-301: accuracies are guessed by small networks that we taught with the network of \
             YAHPO Gym; on {} held-out cells the guesses have Spearman correlation {:.3} with that network, which itself has \
             0.90 with the accuracies of NAS-Bench-301 that we have",
            oracle.held_out().n_rows,
            oracle.held_out().spearman
        );
        return Ok(Judge { oracle: Box::new(oracle), noise: EMBEDDED_NOISE, kind: DataKind::Embedded, note });
    }
    let oracle = published(&dir)?;
    let noise = oracle.map().residual_std;
    let note = format!(
        "{NETWORK}, a network that the authors of YAHPO Gym trained on NAS-Bench-301, brought to the scale of NAS-Bench-301 by \
         {PAIRS}; it misses those records by {noise:.3} % (standard deviation), which is also the spread of the noise if \
         noise is on; the paper searched another surrogate of the same benchmark (xgb v1.0)"
    );
    Ok(Judge { oracle: Box::new(oracle), noise, kind: DataKind::Real, note })
}

/// The published network, brought to the scale of NAS-Bench-301 by the pairs.
///
/// # Errors
/// A file that is missing or cannot be read.
pub fn published(dir: &DataDir) -> Result<Nas301> {
    let (mut network, mut encoding) = (Vec::new(), String::new());
    dir.open(FOLDER, NETWORK)?.read_to_end(&mut network)?;
    dir.open(FOLDER, ENCODING)?.read_to_string(&mut encoding)?;
    let bar = rows_bar("read the records");
    let records = DartsPairs::default().read_records(&mut *dir.open(FOLDER, PAIRS)?, PAIRS, &mut rows_seen(&bar));
    bar.finish_and_clear();
    Ok(Nas301::calibrated(Nas301Network::read(&network, NETWORK, &encoding, ENCODING)?, &records?)?)
}
