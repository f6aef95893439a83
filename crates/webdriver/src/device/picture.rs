//! A perceptual hash of a screenshot: pictures that look alike differ in few bits.

/// Columns and rows that are compared: each of the 64 bits says whether a cell is brighter
/// than the one to its right.
const GRID: (usize, usize) = (9, 8);

/// Pixels of a screenshot at most.
const MAX_PIXELS: u64 = 64 << 20;

/// Returns the hash of a PNG picture; nothing where it cannot be read.
pub fn perceptual_hash(picture: &[u8]) -> Option<u64> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(picture));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width).saturating_mul(height.into()) > MAX_PIXELS {
        return None;
    }
    let mut bytes = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut bytes).ok()?;
    let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    let samples = frame.color_type.samples();
    let colours = if samples > 2 { 3 } else { 1 };
    let bright = |x: usize, y: usize| -> u64 {
        let at = y.saturating_mul(frame.line_size).saturating_add(x.saturating_mul(samples));
        let pixel = bytes.get(at..).unwrap_or_default().iter().take(colours);
        pixel.fold(0, |sum, value| sum.saturating_add(u64::from(*value)))
    };
    let mut hash = 0_u64;
    for row in 0..GRID.1 {
        let mut left = None;
        for column in 0..GRID.0 {
            let cell = mean((column, GRID.0, width), (row, GRID.1, height), bright);
            if let Some(left) = left.replace(cell) {
                hash = (hash << 1) | u64::from(left > cell);
            }
        }
    }
    Some(hash)
}

/// Returns how bright a cell is, from at most sixteen points across and down.
fn mean(
    (column, columns, width): (usize, usize, usize),
    (row, rows, height): (usize, usize, usize),
    bright: impl Fn(usize, usize) -> u64,
) -> u64 {
    const POINTS: usize = 16;
    let place = |cell: usize, cells: usize, size: usize, point: usize| {
        let parts = cells.saturating_mul(POINTS);
        let part = cell.saturating_mul(POINTS).saturating_add(point);
        part.saturating_mul(size).checked_div(parts).unwrap_or_default()
    };
    let mut sum = 0_u64;
    for down in 0..POINTS {
        for across in 0..POINTS {
            let x = place(column, columns, width, across);
            sum = sum.saturating_add(bright(x, place(row, rows, height, down)));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(paint: impl Fn(u32, u32) -> u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 180, 320);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("PNG is encoded in memory");
        let pixels: Vec<u8> = (0..320)
            .flat_map(|y| (0..180).map(move |x| (x, y)))
            .flat_map(|(x, y)| [paint(x, y); 3])
            .collect();
        writer.write_image_data(&pixels).expect("PNG is encoded in memory");
        writer.finish().expect("PNG is encoded in memory");
        bytes
    }

    #[test]
    fn a_clock_that_ticks_changes_few_bits_and_another_screen_many() {
        let board = |x: u32, y: u32| if (x / 30 + y / 50).is_multiple_of(2) { 220 } else { 40 };
        let hash = |bytes: &[u8]| perceptual_hash(bytes).expect("picture decodes");
        let first = hash(&picture(board));
        let ticked = hash(&picture(|x, y| if x < 12 && y < 8 { 0 } else { board(x, y) }));
        let other = hash(&picture(|x, y| if x > y { 230 } else { 20 }));
        assert!((first ^ ticked).count_ones() <= 4, "{first:x} {ticked:x}");
        assert!((first ^ other).count_ones() > 10, "{first:x} {other:x}");
    }

    #[test]
    fn invalid_picture_has_no_hash() {
        assert_eq!(perceptual_hash(b"not a picture"), None);
        assert_eq!(perceptual_hash(&picture(|_, _| 0)[..100]), None);
    }
}
