//! The rate over time in a few hundred cells, whatever the length of the capture: cells are joined
//! by twos when there are too many.

use serde::Serialize;

/// Cells at most: about two pixels each on a wide screen.
const CELLS_MAX: u64 = 480;

/// Bytes on the line in cells of equal width, and the largest number of bytes in one place within
/// each.
pub struct Series {
    place_ns: u64,
    /// Places of a cell.
    places: u64,
    cells: Vec<(u64, u64)>,
}

/// Results on the rate over time. Cells begin with the first frame; after the last cell
/// nothing came.
#[derive(Debug, PartialEq, Serialize)]
pub struct SeriesSummary {
    /// Width of each cell.
    width_ns: u64,
    /// Width of the places whose largest number of bytes is in `peak_bytes`.
    place_ns: u64,
    /// Bytes on the line in each cell.
    line_bytes: Vec<u64>,
    /// Most bytes on the line in one place of each cell.
    peak_bytes: Vec<u64>,
}

impl Series {
    /// With places of this width.
    pub fn new(place_ns: u64) -> Series {
        Series { place_ns, places: 1, cells: Vec::new() }
    }

    /// Counts the bytes of a whole place; its number counts from the first frame.
    pub fn add(&mut self, number: u64, bytes: u64) {
        while number / self.places >= CELLS_MAX {
            self.cells = self.cells.chunks(2).map(join).collect();
            self.places *= 2;
        }
        let cell = (number / self.places) as usize;
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, (0, 0));
        }
        let (sum, peak) = &mut self.cells[cell];
        *sum += bytes;
        *peak = (*peak).max(bytes);
    }

    /// For the results.
    pub fn summary(&self) -> SeriesSummary {
        let (line_bytes, peak_bytes) = self.cells.iter().copied().unzip();
        SeriesSummary {
            width_ns: self.place_ns * self.places,
            place_ns: self.place_ns,
            line_bytes,
            peak_bytes,
        }
    }
}

fn join(cells: &[(u64, u64)]) -> (u64, u64) {
    cells.iter().fold((0, 0), |(sum, peak), one| (sum + one.0, peak.max(one.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_joined_when_there_are_too_many_and_no_byte_is_lost() {
        let mut series = Series::new(100_000);
        (0..3 * CELLS_MAX)
            .filter(|number| number % 7 != 0)
            .for_each(|number| series.add(number, number));
        let found = series.summary();
        assert_eq!(found.width_ns, 400_000);
        assert_eq!(found.line_bytes.len() as u64, 3 * CELLS_MAX / 4);
        assert_eq!(
            found.line_bytes.iter().sum::<u64>(),
            (0..3 * CELLS_MAX).filter(|number| number % 7 != 0).sum::<u64>()
        );
        assert_eq!((found.line_bytes[2], found.peak_bytes[2]), (8 + 9 + 10 + 11, 11));
        assert_eq!((found.line_bytes[3], found.peak_bytes[3]), (12 + 13 + 15, 15));
    }

    #[test]
    fn a_time_of_years_ends_in_few_cells() {
        let mut series = Series::new(100_000);
        series.add(0, 5);
        series.add(u64::MAX / 100_000, 7);
        let found = series.summary();
        assert!(found.line_bytes.len() as u64 <= CELLS_MAX);
        assert_eq!((found.line_bytes[0], found.line_bytes.last()), (5, Some(&7)));
    }
}
