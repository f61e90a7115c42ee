//! Tables from CSV, and every bad input by its message.

use pace_bn::{BinRule, Bins, CsvOptions, Error, Table, read_csv};

use crate::support::read;

fn with(text: &str, options: &CsvOptions) -> Result<Table, Error> {
    read_csv(text.as_bytes(), "my.csv", options)
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn a_table_is_sorted_and_counted() {
    let table = read("b,a\nyes,2\nno,1\nyes,2\n\"no\", 3 \n").unwrap();
    assert_eq!(table.names(), ["a", "b"]);
    assert_eq!(
        (table.levels(0), table.levels(1)),
        (&["1".into(), "2".into(), "3".into()][..], &["no".into(), "yes".into()][..])
    );
    assert_eq!((table.n_rows(), table.n_distinct(), table.weights()), (4, 3, &[1, 2, 1][..]));
    assert_eq!((table.column(0), table.column(1)), (&[0, 1, 2][..], &[0, 1, 0][..]));
    assert_eq!((table.variable("b"), table.variable("c")), (Some(1), None));
}

#[test]
fn orders_of_rows_and_columns_do_not_matter() {
    let one = read("a,b,c\n1,x,u\n2,y,u\n1,y,v\n").unwrap();
    assert_eq!(one, read("c,a,b\nv,1,y\nu,1,x\nu,2,y\n").unwrap());
    let semicolons = CsvOptions { separator: b';', ..CsvOptions::default() };
    assert_eq!(one, with("\u{feff}a;b;c\r\n1;x;u\r\n2;y;u\r\n1;y;v\r\n", &semicolons).unwrap());
}

#[test]
fn missing_values_name_line_and_column_or_are_dropped() {
    let text = "a,b\n1,x\n2,\n1,y\nNA,x\n2,y\n";
    assert_eq!(message(text), "my.csv: line 3: no value for 'b'; fill it in, or drop rows with missing values");
    let table = with(text, &CsvOptions { drop_missing: true, ..CsvOptions::default() }).unwrap();
    assert_eq!((table.n_rows(), table.n_dropped()), (3, 2));
    let skipped = CsvOptions { skip: vec!["b".into()], ..CsvOptions::default() };
    assert!(with("a,b\n1,\n2,\n", &skipped).is_ok(), "what is skipped may miss");
    let all = with("a,b\n1,\n2,?\n", &CsvOptions { drop_missing: true, ..CsvOptions::default() }).unwrap_err();
    assert_eq!(all.to_string(), "my.csv: all 2 rows have a missing value; skip the columns that miss most");
}

#[test]
fn bad_tables_say_what_is_wrong() {
    let cases = [
        ("", "my.csv: the file is empty; give a header line such as 'a,b,c' and rows below it"),
        ("a,b\n", "my.csv: no rows; a structure cannot be learnt from fewer than two"),
        ("a,b\n1,2\n", "my.csv: only one row; a structure cannot be learnt from fewer than two"),
        ("a,b\n1,2\n1,3\n", "my.csv: column 'a': '1' in every row; it can have neither parents nor children, skip it"),
        ("a,b,a\n1,2,3\n", "my.csv: line 1: columns 1 and 3 are both 'a'; rename one of them"),
        ("a,,c\n1,2,3\n", "my.csv: line 1: column 2 has no name; give every column one"),
        ("a,b\n1,2\n1\n", "my.csv: line 3: 1 values where the header names 2 columns; complete or drop it"),
        ("a,b\n1,2\n1,2,3\n", "my.csv: line 3: 3 values where the header names 2 columns; complete or drop it"),
    ];
    for (text, wanted) in cases {
        assert_eq!(message(text), wanted);
    }
    let skip = with("a,b\n1,2\n2,3\n", &CsvOptions { skip: vec!["c".into()], ..CsvOptions::default() });
    assert_eq!(skip.unwrap_err().to_string(), "my.csv: there is no column 'c' to skip; the columns are a, b");
    let bytes = read_csv(&b"a,b\n\xff,2\n"[..], "my.csv", &CsvOptions::default()).unwrap_err().to_string();
    assert!(bytes.starts_with("my.csv: not UTF-8") && bytes.ends_with("save the file as UTF-8"), "{bytes}");
}

#[test]
fn a_million_levels_are_refused_before_they_are_read() {
    // The reader breaks off: what follows is never asked for.
    struct Endless(u64);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(self.0 < 100_000, "read on after 256 levels");
            self.0 += 1;
            let line = if self.0 == 1 { "id,b\n".to_owned() } else { format!("{},x\n", self.0) };
            buffer[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
    }
    let message = read_csv(Endless(0), "my.csv", &CsvOptions::default()).unwrap_err().to_string();
    let wanted = "my.csv: column 'id': more than 256 levels by line 258; if it is a measurement, cut it into bins; if it \
                  is an identifier, skip it";
    assert_eq!(message, wanted);
}

#[test]
fn measurements_are_cut_into_bins() {
    let rows: String = (0..1000).map(|row| format!("{},{}\n", f64::from(row) / 10.0, row % 2)).collect();
    let text = format!("x,y\n{rows}");
    assert!(read(&text).is_err());
    for rule in [BinRule::Quantile, BinRule::Width] {
        let table = with(&text, &CsvOptions { bins: Some(Bins { rule, count: 4 }), ..CsvOptions::default() }).unwrap();
        assert_eq!((table.n_levels(0), table.n_levels(1), table.n_rows()), (4, 2, 1000));
    }
    let one = CsvOptions { bins: Some(Bins { rule: BinRule::Width, count: 1 }), ..CsvOptions::default() };
    assert_eq!(with(&text, &one).unwrap_err().to_string(), "the number of bins is 1; give 2 to 65535");
    // Text among the numbers: not to be cut, and too many levels.
    let mixed = format!("x,y\n{rows}abc,1\n");
    let bins = CsvOptions { bins: Some(Bins { rule: BinRule::Width, count: 4 }), ..CsvOptions::default() };
    assert!(with(&mixed, &bins).unwrap_err().to_string().contains("column 'x': more than 256 levels"));
}

#[test]
fn garbage_is_refused_or_read_but_never_panics() {
    use rand::RngExt;
    let mut rng = crate::support::rng(4);
    for _ in 0..3000 {
        let n = rng.random_range(0..60);
        let text: String = (0..n).map(|_| char::from(b"ab,\n\"1;? \r\t"[rng.random_range(0..11_usize)])).collect();
        let _ = read(&text);
        let _ = with(&text, &CsvOptions { drop_missing: true, ..CsvOptions::default() });
    }
}
