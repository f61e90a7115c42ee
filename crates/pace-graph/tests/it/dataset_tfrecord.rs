//! An official-layout NAS-Bench-101 file that was not written by our own writer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pace_graph::Error;
use pace_graph::dataset::{Nas101Accuracy, Nas101TfRecord};

/// Three runs of the benchmark's first cell with made-up accuracies (test 0.5, 0.75, 0.625), framed and encoded by a
/// Python script from the descriptions of TFRecord and protobuf alone; base64 of the file.
const FILE: &str = concat!(
    "mQEAAAAAAACOqWGTWyIwMDAwNWMxNDJlNmY0OGFjNzRmZGNmNzNlMzQzOTg3NCIsIDEwOCwgIjAxMDAxMTAwMDEwMDAwMDAwMTAwMTAwMDAwMT",
    "AwMDAwMDEwMDAwMDAwMTAwMDAwMDAiLCAiaW5wdXQsY29udjN4My1ibi1yZWx1LG1heHBvb2wzeDMsY29udjN4My1ibi1yZWx1LGNvbnYzeDMt",
    "Ym4tcmVsdSxjb252MXgxLWJuLXJlbHUsb3V0cHV0IiwgIkNpOEpBQUFBQUFBQUFBQVJBQUFBQUFBQUFBQVptcG1abVptWnVUOGhtcG1abVptWn",
    "VUOHBtcG1abVptWnVUOHlBQW94Q1FBQUFBQUFBRXRBRVFBQUFBQUFRSDlBR2MzTXpNek16T3cvSVpxWm1abVptZWsvS1pxWm1abVptZWsvTWdJ",
    "dmFBb3hDUUFBQUFBQUFGdEFFUUFBQUFBQVFvOUFHUUFBQUFBQUFQQS9JUUFBQUFBQUFPNC9LUUFBQUFBQUFPQS9NZ0l2WmhDS21Jb0VHUUFBQU",
    "FBQVNJOUEiXSjK6TuZAQAAAAAAAI6pYZNbIjAwMDA1YzE0MmU2ZjQ4YWM3NGZkY2Y3M2UzNDM5ODc0IiwgMTA4LCAiMDEwMDExMDAwMTAwMDAw",
    "MDAxMDAxMDAwMDAxMDAwMDAwMTAwMDAwMDAxMDAwMDAwMCIsICJpbnB1dCxjb252M3gzLWJuLXJlbHUsbWF4cG9vbDN4Myxjb252M3gzLWJuLX",
    "JlbHUsY29udjN4My1ibi1yZWx1LGNvbnYxeDEtYm4tcmVsdSxvdXRwdXQiLCAiQ2k4SkFBQUFBQUFBQUFBUkFBQUFBQUFBQUFBWm1wbVptWm1a",
    "dVQ4aG1wbVptWm1adVQ4cG1wbVptWm1adVQ4eUFBb3hDUUFBQUFBQUFFdEFFUUFBQUFBQVFIOUFHYzNNek16TXpPdy9JWnFabVptWm1lay9LWn",
    "FabVptWm1lay9NZ0l2YUFveENRQUFBQUFBQUZ0QUVRQUFBQUFBUW85QUdRQUFBQUFBQVBBL0lRQUFBQUFBQU80L0tRQUFBQUFBQU9nL01nSXZa",
    "aENLbUlvRUdRQUFBQUFBU0k5QSJdJDccIZkBAAAAAAAAjqlhk1siMDAwMDVjMTQyZTZmNDhhYzc0ZmRjZjczZTM0Mzk4NzQiLCAxMDgsICIwMT",
    "AwMTEwMDAxMDAwMDAwMDEwMDEwMDAwMDEwMDAwMDAxMDAwMDAwMDEwMDAwMDAwIiwgImlucHV0LGNvbnYzeDMtYm4tcmVsdSxtYXhwb29sM3gz",
    "LGNvbnYzeDMtYm4tcmVsdSxjb252M3gzLWJuLXJlbHUsY29udjF4MS1ibi1yZWx1LG91dHB1dCIsICJDaThKQUFBQUFBQUFBQUFSQUFBQUFBQU",
    "FBQUFabXBtWm1abVp1VDhobXBtWm1abVp1VDhwbXBtWm1abVp1VDh5QUFveENRQUFBQUFBQUV0QUVRQUFBQUFBUUg5QUdjM016TXpNek93L0la",
    "cVptWm1abWVrL0tacVptWm1abWVrL01nSXZhQW94Q1FBQUFBQUFBRnRBRVFBQUFBQUFRbzlBR1FBQUFBQUFBUEEvSVFBQUFBQUFBTzQvS1FBQU",
    "FBQUFBT1EvTWdJdlpoQ0ttSW9FR1FBQUFBQUFTSTlBIl1vv7Xt",
);

#[test]
fn three_repeats_are_one_cell() -> Result<(), Error> {
    let bytes = STANDARD.decode(FILE).expect("base64");
    let format = Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() };
    let mut seen = Vec::new();
    let cells = format.read_cells(&mut &*bytes, "my.tfrecord", &mut |progress| seen.push(progress))?;
    assert_eq!((seen.len(), seen[0].rows, seen[0].bytes), (1, 3, bytes.len() as u64));
    assert_eq!(cells.len(), 1);
    let cell = &cells[0];
    assert_eq!(cell.hash.to_string(), "00005c142e6f48ac74fdcf73e3439874");
    assert_eq!((cell.parameters, cell.runs.len()), (8_555_530, 3));
    assert_eq!(cell.accuracy(Nas101Accuracy::Test, 108), Some(0.625));
    assert_eq!(cell.accuracy(Nas101Accuracy::Validation, 108), Some(0.9375));
    assert_eq!(cell.training_time(108), Some(1000.25));
    assert_eq!(cell.accuracy(Nas101Accuracy::Test, 36), None);
    Ok(())
}
