//! Tables of discrete observations, good and bad.

use pace_search::oracle::Observations;

#[test]
fn levels_are_alphabetical_whatever_comes_first() {
    let text = "\u{feff}\"A\",B\r\nyes,mid\r\nno, low\r\n\"no\",high\r\n";
    let rows = Observations::parse_csv(text, "x.csv").unwrap();
    assert_eq!((rows.n_rows(), rows.n_variables(), rows.names()), (3, 2, &["A".to_owned(), "B".to_owned()][..]));
    assert_eq!((rows.n_levels(0), rows.levels(1)), (2, &["high", "low", "mid"].map(str::to_owned)[..]));
    assert_eq!((rows.column(0), rows.column(1)), (&[1, 0, 0][..], &[2, 1, 0][..]));
}

#[test]
fn errors_name_file_row_and_remedy() {
    let cases = [
        ("", "x.csv, row 1: a column without a name; start the file with a header"),
        ("A,,B\nno,no,no\n", "row 1: a column without a name"),
        ("A,A\nno,no\n", "row 1: two columns of one name; rename one of them"),
        ("A,B\n", "row 2: no observations; give at least one row"),
        ("A,B\nno,yes\nno\n", "x.csv, row 3: 1 values where the header names 2 variables; complete or drop the row"),
        ("A,B\nno,yes\n\nno,no\n", "row 3: 1 values"),
        ("A,B\nno,NA\n", "row 2: no value for 'B'; drop the row or fill it in"),
        ("A,B\nno,\n", "row 2: no value for 'B'"),
    ];
    for (text, wanted) in cases {
        let found = Observations::parse_csv(text, "x.csv").unwrap_err().to_string();
        assert!(found.contains(wanted), "{text:?} gives '{found}'");
    }
    let many = (0..300).map(|level| format!("{level}\n")).collect::<String>();
    let found = Observations::parse_csv(&format!("A\n{many}"), "x.csv").unwrap_err().to_string();
    assert!(found.contains("'A' has 300 levels, more than 256; bin it"), "{found}");
}
