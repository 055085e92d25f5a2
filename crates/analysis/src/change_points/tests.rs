//! Change points of series that are known, against Apache Otava, and how often there are some by chance.

use super::*;

fn at(values: &[f64], test: ChangeTest, level: f64) -> Vec<usize> {
    change_points(values, test, level).iter().map(|point| point.at).collect()
}

/// Values around levels that alternate by so much up and down.
fn levels(parts: &[(usize, f64)], away: f64) -> Vec<f64> {
    let values = parts.iter().flat_map(|(count, level)| vec![*level; *count]);
    values.enumerate().map(|(at, level)| level + [away, 0.0, -away][at % 3]).collect()
}

#[test]
fn a_change_has_its_place_and_the_means_of_both_sides() {
    let values = levels(&[(9, 100.0), (9, 80.0)], 1.0);
    for test in [ChangeTest::Permutation, ChangeTest::Student] {
        let found = change_points(&values, test, 0.01);
        let [only] = found[..] else { panic!("{found:?}") };
        assert_eq!((only.at, only.before, only.after), (9, 100.0, 80.0));
        assert!((only.change() + 0.2).abs() < 1e-12 && only.p_value <= 0.01, "{only:?}");
    }
}

#[test]
fn several_changes_are_found_in_order() {
    let values = levels(&[(12, 100.0), (12, 130.0), (12, 60.0), (12, 100.0)], 2.0);
    for test in [ChangeTest::Permutation, ChangeTest::Student] {
        assert_eq!(at(&values, test, 0.01), [12, 24, 36], "{test:?}");
    }
}

#[test]
fn one_run_that_is_off_at_the_end_is_a_change_by_students_t_alone() {
    let mut values = levels(&[(30, 100.0)], 1.0);
    values.push(50.0);
    assert_eq!(at(&values, ChangeTest::Student, 0.01), [30]);
    // In random order it is first or last in two of 31.
    assert_eq!(at(&values, ChangeTest::Permutation, 0.01), [0_usize; 0]);
}

#[test]
fn constant_short_and_impossible_series_have_no_change() {
    for test in [ChangeTest::Permutation, ChangeTest::Student] {
        for values in [&[][..], &[1.0], &[1.0, 2.0], &[5.0; 40], &[1.0, f64::NAN, 3.0, 4.0, 5.0]] {
            assert_eq!(at(values, test, 0.01), [0_usize; 0], "{values:?}");
        }
    }
}

#[test]
fn the_same_series_always_has_the_same_changes() {
    let mut draws = Draws(3);
    let values: Vec<f64> =
        (0..60).map(|at| draws.normal() + if at < 30 { 0.0 } else { 1.5 }).collect();
    let first = change_points(&values, ChangeTest::Permutation, 0.05);
    assert_eq!(first, change_points(&values, ChangeTest::Permutation, 0.05));
    assert!(!first.is_empty());
}

/// Without a change the permutation test finds one in as many series as its level says, whatever the distribution.
#[test]
fn a_series_without_a_change_has_one_as_often_as_the_level_says() {
    const SERIES: usize = 400;
    let mut draws = Draws(11);
    let mut is_found = || {
        let values: Vec<f64> = (0..20).map(|_| draws.exponential().powi(2)).collect();
        !at(&values, ChangeTest::Permutation, 0.05).is_empty()
    };
    let found = (0..SERIES).filter(|_| is_found()).count();
    // 5 % are 20; three standard deviations are 13.
    assert!((7..=33).contains(&found), "{found} of {SERIES}");
}

/// The series of Apache Otava's test of its analysis (tests/analysis_test.py).
const SINGLE: [f64; 20] = [
    1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55, 0.50,
    0.49, 0.51, 0.50, 0.49,
];

/// Source: the change points that Otava's own tests expect of these series: tests/analysis_test.py, with Student's t and
/// windows of 10 at 0.0001 and with permutations, and tests/change_point_divisive_test.py with both.
#[test]
fn the_series_of_otavas_tests_have_its_change_points() {
    let places = |values: &[f64], window, level| -> Vec<usize> {
        by_student(values, window, level).iter().map(|place| place.at).collect()
    };
    assert_eq!(places(&SINGLE, 10, 0.000_1), [10]);
    assert_eq!(at(&SINGLE, ChangeTest::Permutation, 0.01), [10]);
    let sequence =
        [0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0];
    let divided_only = divided(&sequence, 0.01, |split, places| {
        let known: Vec<usize> = places.iter().map(|it| it.at).collect();
        p_value_at(&sequence, &known, split.at)
    });
    assert_eq!(divided_only.iter().map(|place| place.at).collect::<Vec<_>>(), [5, 8]);
    // In random order three of nine values are the first in one of 84 cases, 1.2 %. Otava finds this second change at 1 %,
    // as it does not count the order at hand.
    assert_eq!(at(&sequence, ChangeTest::Permutation, 0.05), [5, 8]);
}

/// A benchmark of a ledger over its commits: the series of Apache Otava's tests/deterministic_tigerbeetle_test.py.
#[rustfmt::skip]
const LEDGER: [i32; 365] = [
    26_705, 26_475, 26_641, 26_806, 26_835, 26_911, 26_564, 26_812, 26_874, 26_682, 15_672,
    26_745, 26_460, 26_977, 26_851, 23_412, 23_547, 23_674, 23_519, 23_670, 23_662, 23_462,
    23_750, 23_717, 23_524, 23_588, 23_687, 23_793, 23_937, 23_715, 23_570, 23_730, 23_690,
    23_699, 23_670, 23_860, 23_988, 23_652, 23_681, 23_798, 23_728, 23_604, 23_523, 23_412,
    23_685, 23_773, 23_771, 23_718, 23_409, 23_739, 23_674, 23_597, 23_682, 23_680, 23_711,
    23_660, 23_990, 23_938, 23_742, 23_703, 23_536, 24_363, 24_414, 24_483, 24_509, 24_944,
    24_235, 24_560, 24_236, 24_667, 24_730, 28_346, 28_437, 28_436, 28_057, 28_217, 28_456,
    28_427, 28_398, 28_250, 28_331, 28_222, 28_726, 28_578, 28_345, 28_274, 28_514, 28_590,
    28_449, 28_305, 28_411, 28_788, 28_404, 28_821, 28_580, 27_483, 26_805, 27_487, 27_124,
    26_898, 27_295, 26_951, 27_312, 27_660, 27_154, 27_050, 26_989, 27_193, 27_503, 27_326,
    27_375, 27_513, 27_057, 27_421, 27_574, 27_609, 27_123, 27_824, 27_644, 27_394, 27_836,
    27_949, 27_702, 27_457, 27_272, 28_207, 27_802, 27_516, 27_586, 28_005, 27_768, 28_543,
    28_237, 27_915, 28_437, 28_342, 27_733, 28_296, 28_524, 28_687, 28_258, 28_611, 29_360,
    28_590, 29_641, 28_965, 29_474, 29_256, 28_611, 28_205, 28_539, 27_962, 28_398, 28_509,
    28_240, 28_592, 28_102, 28_461, 28_578, 28_669, 28_507, 28_535, 28_226, 28_536, 28_561,
    28_087, 27_953, 28_398, 28_007, 28_518, 28_337, 28_242, 28_607, 28_545, 28_514, 28_377,
    28_010, 28_412, 28_633, 28_576, 28_195, 28_637, 28_724, 28_466, 28_287, 28_719, 28_425,
    28_860, 28_842, 28_604, 28_327, 28_216, 28_946, 28_918, 29_287, 28_725, 29_148, 29_541,
    29_137, 29_628, 29_087, 28_612, 29_154, 29_108, 28_884, 29_234, 28_695, 28_969, 28_809,
    28_695, 28_634, 28_916, 29_852, 29_389, 29_757, 29_531, 29_363, 29_251, 29_552, 29_561,
    29_046, 29_795, 29_022, 29_395, 28_921, 29_739, 29_257, 29_455, 29_376, 29_528, 28_909,
    29_492, 28_984, 29_621, 29_026, 29_457, 29_102, 29_114, 28_924, 29_162, 29_259, 29_554,
    29_616, 29_211, 29_367, 29_460, 28_836, 29_645, 29_586, 28_848, 29_324, 28_969, 29_150,
    29_243, 29_081, 29_312, 28_923, 29_272, 29_117, 29_072, 29_529, 29_737, 29_652, 29_612,
    29_856, 29_012, 30_402, 29_969, 29_309, 29_439, 29_285, 29_421, 29_023, 28_772, 29_692,
    29_416, 29_267, 29_542, 29_904, 30_045, 29_739, 29_945, 29_141, 29_163, 29_765, 29_197,
    29_441, 28_910, 29_504, 29_614, 29_643, 29_506, 29_420, 29_672, 29_432, 29_784, 29_888,
    29_309, 29_247, 29_816, 29_254, 29_813, 29_451, 29_382, 29_618, 28_558, 29_845, 29_499,
    29_283, 29_184, 29_246, 28_790, 29_952, 29_145, 29_415, 30_437, 29_227, 29_605, 29_859,
    29_156, 29_807, 29_406, 29_734, 29_861, 29_140, 29_983, 29_832, 29_919, 29_896, 29_991,
    29_266, 29_001, 29_459, 29_548, 29_310, 29_042, 29_303, 29_894, 29_091, 29_018, 29_537,
    29_614, 29_180, 29_736, 29_500, 29_218, 29_581, 28_906, 28_542, 29_306, 28_987, 29_878,
    28_865, 30_272, 29_707, 29_662, 29_815, 30_492, 29_347, 30_096, 29_054, 30_238, 28_813,
    31_895, 28_915,
];

/// Source: `compute_change_points` of apache-otava 0.8.0. Otava takes the standard deviations of both sides by the number
/// of values where Student's test has one less. At 0.01 and 0.0001 that makes a difference: there the expected places are
/// those of the same program with `numpy.std(ddof=1)`.
#[test]
fn a_long_series_has_otavas_change_points() {
    let values: Vec<f64> = LEDGER.iter().map(|value| f64::from(*value)).collect();
    let at_5_percent = [15, 61, 71, 95, 117, 131, 142, 148, 165, 169, 192, 206, 212, 249, 260, 363];
    assert_eq!(at(&values, ChangeTest::Student, 0.05), at_5_percent);
    assert_eq!(at(&values, ChangeTest::Student, 0.001), [15, 61, 71, 95, 117, 131, 192, 212]);
    let at_1_percent = [15, 61, 71, 95, 117, 131, 142, 148, 192, 212, 260, 363];
    assert_eq!(at(&values, ChangeTest::Student, 0.01), at_1_percent);
    assert_eq!(at(&values, ChangeTest::Student, 0.000_1), [15, 61, 71, 95, 117, 131, 192, 212]);
}

#[test]
fn too_few_values_show_no_change() {
    assert_eq!([0.5, 0.05, 0.01, 0.002].map(fewest_values), [4, 8, 10, 13]);
    let places = |before: usize, after: usize| {
        let noise = |at: usize| [0.0, 3.0, 1.0, 2.0][at % 4];
        let value = |at: usize| if at < before { 1_000.0 + noise(at) } else { 500.0 + noise(at) };
        let values: Vec<f64> = (0..before + after).map(value).collect();
        let found = change_points(&values, ChangeTest::Permutation, 0.01);
        found.iter().map(|it| it.at).collect::<Vec<_>>()
    };
    assert_eq!(places(4, 4), []);
    assert_eq!(places(5, 4), []);
    assert_eq!(places(5, 5), [5]);
    assert_eq!(places(12, 6), [12]);
}

#[test]
fn an_order_that_is_as_good_counts_however_its_sums_are_rounded() {
    // Within the first six, 24 of 720 orders divide as well as that at hand.
    let values = [1003.2, 1009.2, 989.2, 987.2, 991.2, 993.6, 502.8, 494.6, 504.6, 486.0];
    let found = change_points(&values, ChangeTest::Permutation, 0.01);
    assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), [6]);
}
