# Writes csv-tables.json beside it: CSV as pandas, NumPy and R write it by default.
#   /usr/bin/python3 test/answers/csv-tables.py     (Debian's python3-pandas, r-base-core)
import io, json, pathlib, subprocess
import numpy as np, pandas as pd

rows = [[1.5, -2.0], [1e-7, 123456789.125], [0.1, 1e22]]
def text(write):
    file = io.StringIO()
    write(file)
    return file.getvalue()
frame = pd.DataFrame(rows, columns=['a', 'b'])
holes = pd.DataFrame([[1.5, None], [2.5, 3.5]], columns=['a', 'b'])
r = 'x <- data.frame(a = c(1.5, 1e-7, 0.1), b = c(-2, 123456789.125, 1e22)); options(digits = 17); '
def R(call):
    return subprocess.run(['Rscript', '-e', r + call], check=True, capture_output=True, text=True).stdout
files = {
    'pandas to_csv': (text(frame.to_csv), ['', 'a', 'b']),
    'pandas to_csv(index=False)': (text(lambda f: frame.to_csv(f, index=False)), ['a', 'b']),
    'pandas to_csv without names': (text(lambda f: pd.DataFrame(rows).to_csv(f, index=False)), ['0', '1']),
    'pandas to_csv with an index, without names': (text(pd.DataFrame(rows).to_csv), ['', '0', '1']),
    'NumPy savetxt': (text(lambda f: np.savetxt(f, rows)), None),
    'NumPy savetxt with a comma': (text(lambda f: np.savetxt(f, rows, delimiter=',')), None),
    'R write.csv': (R('write.csv(x, row.names = FALSE)'), ['a', 'b']),
    'R write.csv with row names': (R('write.csv(x)'), ['', 'a', 'b']),
    'R write.csv2': (R('write.csv2(x, row.names = FALSE)'), 'decimal comma'),
    'R write.table': (R('write.table(x, row.names = FALSE, sep = "\\t")'), ['a', 'b']),
}
path = pathlib.Path(__file__).with_suffix('.json')
path.write_text(json.dumps({
    'pandas': pd.__version__, 'numpy': np.__version__, 'rows': rows,
    'files': {name: {'text': body, 'names': names} for name, (body, names) in files.items()},
    'holes': text(lambda f: holes.to_csv(f, index=False)),
}, indent=1) + '\n')
