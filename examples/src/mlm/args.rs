//! The options of the programs that pre-train an encoder by masked language modelling and search with it.

use super::methods::MethodId;
use crate::args::{Preset, TrainArgs, count, encoder_name};

/// The vector of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReadoutArg {
    /// The output node
    Output,
    /// The mean of the nodes
    Mean,
}

/// Whose search loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Protocol {
    /// Ours: a correct acquisition, nothing asked twice, seeded
    Ours,
    /// The authors', with its slips
    Published,
}

/// What DNGO chooses among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReachArg {
    /// Graphs one edit away from the best so far, and random ones
    Edits,
    /// All graphs
    Space,
}

/// The options of the programs that pre-train by masked language modelling and then search.
#[derive(Clone, Debug, clap::Args)]
pub struct MlmArgs {
    /// The encoder; `untrained` is PACE as initialised; `all`, or names with commas between, makes a table of them
    #[arg(long, value_name = "NAME", default_value = "pace", value_parser = encoder_name)]
    pub encoder: String,
    /// Which model
    #[arg(long, value_enum, default_value = "best")]
    pub preset: Preset,
    /// Whose search loop
    #[arg(long, value_enum, default_value = "ours")]
    pub protocol: Protocol,
    /// Searches per method, with different seeds
    #[arg(long, value_name = "N", value_parser = count)]
    pub seeds: Option<usize>,
    /// Queries per search
    #[arg(long, value_name = "N", value_parser = count)]
    pub queries: Option<usize>,
    /// Only these methods, e.g. `dngo,random` [default: all]
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub methods: Vec<MethodId>,
    /// Those of the encoder and its training.
    #[command(flatten)]
    pub train: TrainArgs,
    /// Which vector of a graph is searched: that of the output node (the paper), or the mean of all nodes
    #[arg(long, value_enum)]
    pub readout: Option<ReadoutArg>,
    /// What DNGO chooses among; the authors' protocol always chooses among all graphs [default: edits]
    #[arg(long, value_enum)]
    pub reach: Option<ReachArg>,
    /// DNGO-LS asks for the most promising of this many nearest neighbours; 1 is the paper's. With `--reach edits` it chooses
    /// among the graphs one edit away instead
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub neighbourhood: u32,
    /// Training steps of DNGO's network [default: 25]
    #[arg(long, value_name = "N")]
    pub dngo_steps: Option<usize>,
    /// The seed of the first search; others than 1 serve to choose settings by searches that are not reported
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub first_seed: u64,
    /// How many networks DNGO averages over
    #[arg(long, value_name = "N", value_parser = count)]
    pub ensemble: Option<usize>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        mlm: MlmArgs,
    }

    #[test]
    fn a_method_that_does_not_exist_is_an_error_that_lists_those_that_do() {
        let parse = |methods| Cli::try_parse_from(["nas101", "--methods", methods]);
        assert_eq!(parse("dngo,random").unwrap().mlm.methods, [MethodId::Dngo, MethodId::Random]);
        for methods in ["dngoo", "dngo,", "random,dngoo"] {
            let error = parse(methods).unwrap_err().to_string();
            assert!(error.contains("random, evolution, local, ") && error.contains("dngo, dngo_ls]"), "{error}");
        }
        assert!(Cli::try_parse_from(["nas101", "--queries", "0"]).is_err());
    }
}
