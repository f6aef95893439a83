//! A small copy of a screenshot, for a page or a drawing.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Pixels of a screenshot at most.
const MAX_PIXELS: u64 = 64 << 20;

/// Returns a picture as a `data:` address, scaled down to a width; nothing where it is not a
/// PNG that can be read.
pub fn thumbnail(picture: &[u8], width: u32) -> Option<String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(picture));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let (wide, high) = (reader.info().width, reader.info().height);
    if wide == 0 || high == 0 || u64::from(wide).saturating_mul(high.into()) > MAX_PIXELS {
        return None;
    }
    let mut bytes = vec![0; reader.output_buffer_size()?];
    let frame = reader.next_frame(&mut bytes).ok()?;
    let samples = frame.color_type.samples();
    let width = width.clamp(1, wide);
    let height = u32::try_from(u64::from(high) * u64::from(width) / u64::from(wide)).ok()?.max(1);
    let pixel = |x: u32, y: u32| -> [u32; 3] {
        let at = usize::try_from(y).unwrap_or(0).saturating_mul(frame.line_size);
        let at = at.saturating_add(usize::try_from(x).unwrap_or(0).saturating_mul(samples));
        let of =
            |place: usize| u32::from(bytes.get(at.saturating_add(place)).copied().unwrap_or(0));
        if samples > 2 { [of(0), of(1), of(2)] } else { [of(0); 3] }
    };
    let mut small = Vec::new();
    for y in 0..height {
        for x in 0..width {
            small.extend(mean((x, width, wide), (y, height, high), pixel));
        }
    }
    let mut packed = Vec::new();
    let mut encoder = png::Encoder::new(&mut packed, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&small).ok()?;
    writer.finish().ok()?;
    Some(format!("data:image/png;base64,{}", STANDARD.encode(&packed)))
}

/// Returns the mean colour of what one small pixel shows.
fn mean(
    (x, width, wide): (u32, u32, u32),
    (y, height, high): (u32, u32, u32),
    pixel: impl Fn(u32, u32) -> [u32; 3],
) -> [u8; 3] {
    let edge = |at: u32, parts: u32, size: u32| {
        u32::try_from(u64::from(at) * u64::from(size) / u64::from(parts)).unwrap_or(0)
    };
    let (left, right) = (edge(x, width, wide), edge(x + 1, width, wide));
    let (top, bottom) = (edge(y, height, high), edge(y + 1, height, high));
    let (mut sum, mut count) = ([0_u32; 3], 0_u32);
    // Sixteen points across and down are enough: a small picture is looked at, not measured.
    let step = |from: u32, to: u32| usize::try_from((to - from) / 16).unwrap_or(0).max(1);
    for down in (top..bottom.max(top + 1)).step_by(step(top, bottom.max(top))) {
        for across in (left..right.max(left + 1)).step_by(step(left, right.max(left))) {
            let colour = pixel(across, down);
            for (sum, part) in sum.iter_mut().zip(colour) {
                *sum = sum.saturating_add(part);
            }
            count += 1;
        }
    }
    sum.map(|it| u8::try_from(it / count.max(1)).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_a_small_png() {
        let mut picture = Vec::new();
        let mut encoder = png::Encoder::new(&mut picture, 40, 80);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("PNG is encoded in memory");
        let pixels: Vec<u8> = (0..40 * 80).flat_map(|_| [200, 100, 50, 255]).collect();
        writer.write_image_data(&pixels).expect("PNG is encoded in memory");
        writer.finish().expect("PNG is encoded in memory");
        let small = thumbnail(&picture, 10).expect("picture is scaled");
        let packed = small.strip_prefix("data:image/png;base64,").expect("server address is valid");
        let bytes = STANDARD.decode(packed).expect("text is base64");
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("picture is a PNG");
        assert_eq!((reader.info().width, reader.info().height), (10, 20));
        let mut pixels = vec![0; reader.output_buffer_size().expect("picture is a PNG")];
        reader.next_frame(&mut pixels).expect("picture is a PNG");
        assert_eq!(pixels.first_chunk(), Some(&[200, 100, 50]));
        assert_eq!(thumbnail(b"no picture", 10), None);
    }
}
