const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The letters of a text as readers count them: one with its accents, or with all parts of an emoji, is one. */
function lettersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** About how wide a letter is, in units of the font's size: as in DejaVu Sans, which is wider than most. */
function letterWidth(letter: string): number {
  // Chinese, Japanese, Korean and emoji.
  if (/^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|^[^\0-\uffff]/u.test(letter))
    return 1;
  if (/^[MWmw@%\u2014\u2026]/.test(letter)) return 1;
  if (/^[ .,:;'|!()[\]Iijlrtf]/.test(letter)) return 0.35;
  return /^\p{Lu}/u.test(letter) ? 0.7 : 0.61;
}

/** About how wide a text is, in units of the font's size. */
export function textWidth(text: string): number {
  return lettersOf(text).reduce((sum, letter) => sum + letterWidth(letter), 0);
}

/** The text, or its beginning and its end around an ellipsis: names often differ in their last letters only. */
export function shortened(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const letters = lettersOf(text);
  const kept = { front: 0, back: 0 };
  let room = width - letterWidth('\u2026');
  while (kept.front + kept.back < letters.length) {
    const front = kept.front <= kept.back;
    room -= letterWidth(front ? letters[kept.front]! : letters[letters.length - 1 - kept.back]!);
    if (room < 0) break;
    kept[front ? 'front' : 'back']++;
  }
  const end = letters.slice(letters.length - kept.back).join('');
  return `${letters.slice(0, kept.front).join('')}\u2026${end}`;
}

/** The text in lines, parted at spaces; a word that is longer than a line is parted within. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 && line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const letter of lettersOf(word)) {
      if (line !== '' && textWidth(line + letter) > width) {
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  return [...lines, line];
}
