//! The real files, if a data folder has them.

use std::collections::HashSet;

use pace_checkout::data_with;
use pace_graph::dataset::{
    Bn, DartsArchs, DartsCell, DartsPairs, DataDir, DatasetFormat, Genotype, Na, Nas101Accuracy, Nas101Table, bn_line,
    na_line, nas101_hash, write_nas101_table,
};
use pace_graph::enumerate::{Nas101Space, nas101_parameters};
use pace_graph::{Error, split_reference};

fn text(dir: &DataDir, id: &str, file: &str) -> Result<String, Error> {
    let mut text = String::new();
    dir.open(id, file)?.read_to_string(&mut text).expect("readable text");
    Ok(text)
}

fn mean_and_std(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn na_is_that_of_the_paper() -> Result<(), Error> {
    let file = "final_structures6.txt";
    let Some(dir) = data_with(&[("na", file)]) else { return Ok(()) };
    let mut rows = Vec::new();
    let na = dir.read(&Na::default(), "na", file, &mut |progress| rows.push(progress.rows))?;
    assert_eq!(rows.last(), Some(&20_020), "progress counts all rows");
    assert_eq!(na.samples.len(), 19_020);
    assert_eq!(na.samples.iter().map(|sample| &sample.dag).collect::<HashSet<_>>().len(), 19_015);
    assert!(na.samples.iter().all(|sample| na.spec.is_valid(&sample.dag)));

    let split = split_reference(na.samples.len(), 0.9);
    let train: Vec<f64> = na.targets(&split.train).unwrap();
    let test: Vec<f64> = na.targets(&split.test).unwrap();
    let ((train_mean, train_std), (test_mean, test_std)) = (mean_and_std(&train), mean_and_std(&test));
    let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 5e-11, "{found} is not {wanted}");
    close(train_mean, 0.7363160766);
    close(train_std, 0.0061346824);
    close(test_mean, 0.7361215563);
    close(test_std, 0.0059868545);

    for (sample, line) in na.samples.iter().zip(text(&dir, "na", file)?.lines().skip(1000)) {
        assert_eq!(na_line(&sample.dag, sample.target.expect("labelled"))?, line);
    }
    Ok(())
}

#[test]
fn bn_is_that_of_the_paper() -> Result<(), Error> {
    let file = "asia_200k.txt";
    let Some(dir) = data_with(&[("bn", file)]) else { return Ok(()) };
    let bn = dir.read(&Bn::default(), "bn", file, &mut |_| {})?;
    assert_eq!(bn.samples.len(), 200_000);
    let all: Vec<usize> = (0..bn.samples.len()).collect();
    let targets: Vec<f64> = bn.targets(&all).unwrap();
    assert!((mean_and_std(&targets).0 + 13821.870).abs() < 5e-4);
    assert!((targets.iter().copied().fold(f64::MIN, f64::max) + 11141.892).abs() < 5e-4);
    // The writer gives back the very bytes of the file.
    let text = text(&dir, "bn", file)?;
    for (sample, line) in bn.samples.iter().zip(text.lines()).step_by(17) {
        assert_eq!(bn_line(&sample.dag, sample.target.expect("labelled"))?, line);
    }
    Ok(())
}

#[test]
fn nas101_table_is_whole_and_hashes_match() -> Result<(), Error> {
    let file = "nasbench101.csv";
    let Some(dir) = data_with(&[("nasbench101", file)]) else { return Ok(()) };
    let cells = Nas101Table::default().read_cells(&mut *dir.open("nasbench101", file)?, file, &mut |_| {})?;
    assert_eq!(cells.len(), 423_624);
    assert_eq!(nas101_hash(&cells[0].dag)?.to_string(), "00005c142e6f48ac74fdcf73e3439874");
    assert_eq!(cells[0].parameters, 8_555_530);
    for cell in cells.iter().step_by(211) {
        assert_eq!(nas101_hash(&cell.dag)?, cell.hash);
    }
    for cell in &cells {
        assert_eq!(nas101_parameters(&cell.dag), u64::from(cell.parameters), "{}", cell.hash);
    }
    let accuracy = |cell: &pace_graph::dataset::Nas101Cell| cell.accuracy(Nas101Accuracy::Test, 108).expect("labelled");
    assert!((accuracy(&cells[0]) - 0.92117387).abs() < 1e-8);
    let best = cells.iter().map(accuracy).fold(0.0, f64::max);
    assert!((best - 0.94661).abs() < 1e-5);
    assert_eq!(cells[0].accuracy(Nas101Accuracy::Validation, 108), None);
    let mut written = Vec::new();
    write_nas101_table(&cells, &mut written).expect("cells from a table fit a table");
    let mut original = Vec::new();
    dir.open("nasbench101", file)?.read_to_end(&mut original).expect("readable");
    assert!(written == original, "the writer gives back the very bytes of the file");

    // The table and the enumeration are the same set, cell by cell, under our canonical form.
    let space = Nas101Space::enumerate();
    let mut indices: Vec<usize> = cells.iter().map(|cell| space.index_of(&cell.dag).expect("a cell")).collect();
    indices.sort_unstable();
    assert!(indices.iter().copied().eq(0..space.len()), "every row is one cell, and every cell has one row");
    Ok(())
}

#[test]
fn nas301_lists_are_whole() -> Result<(), Error> {
    let file = "archs_nasbench301_11221.json";
    let Some(dir) = data_with(&[("nasbench301", file)]) else { return Ok(()) };
    let archs = DartsArchs::default().read_records(&mut *dir.open("nasbench301", file)?, file, &mut |_| {})?;
    assert_eq!(archs.len(), 11_221);
    for record in &archs {
        let genotype = record.genotype;
        assert_eq!(genotype.to_string().parse::<Genotype>()?, genotype);
        assert_eq!(genotype.compact().parse::<Genotype>()?, genotype);
        for cell in [genotype.normal, genotype.reduce] {
            assert_eq!(DartsCell::from_dag(&cell.to_dag())?, cell);
        }
    }
    let file = "pairs_1218_naslib.csv";
    let pairs = dir.read(&DartsPairs::default(), "nasbench301", file, &mut |_| {})?;
    assert_eq!(pairs.samples.len(), 1_218);
    assert!(pairs.samples.iter().all(|sample| pairs.spec.is_valid(&sample.dag) && sample.target.is_some()));
    assert_eq!(pairs.samples[0].target, Some(93.32119084207302));
    let boxed: Box<dyn DatasetFormat> = Box::new(pace_graph::dataset::Format::DartsArchs(DartsArchs::default()));
    let archs = dir.read(&*boxed, "nasbench301", "archs_nasbench301_11221.json", &mut |_| {})?;
    assert_eq!((archs.samples.len(), archs.samples[0].target), (11_221, None));
    Ok(())
}
