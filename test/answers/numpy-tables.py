# Writes numpy-tables.json beside it: files as NumPy saves them, and the numbers of each as rows.
#   python3 test/answers/numpy-tables.py
import base64, io, json, pathlib
import numpy as np

whole = np.array([[1, 2, 3], [4, 5, 127]])
real = np.array([[1.5, -2.25, 3], [4, 1e-3, 6.5]])
arrays = {
    **{dtype: whole.astype(dtype) for dtype in ('i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', '>i2', '>i4', '>i8', '>u8')},
    'negative i8': np.array([[-1, -2**40], [2**53, -2**53]]),
    **{dtype: real.astype(dtype) for dtype in ('f2', 'f4', 'f8', '>f2', '>f4', '>f8')},
    'bool': real > 2,
    'Fortran order': real.T,
    'Fortran order, big-endian': np.asfortranarray(real.astype('>f4')),
    'one dimension': np.arange(6) / 4,
    'one row': real[:1],
    'no dimension': np.float64(3.5),
    'no rows': np.zeros((0, 3)),
    'subnormal f2': np.array([[2.0**-24, -(2.0**-24) * 3, 65504]], dtype='f2'),
}

def saved(save, *args, **named):
    file = io.BytesIO()
    save(file, *args, **named)
    return base64.b64encode(file.getvalue()).decode()

def rows(array):
    array = np.atleast_1d(array)
    return (array[:, None] if array.ndim == 1 else array).astype(float).tolist()

result = {
    'numpy': np.__version__,
    'arrays': {name: {'rows': rows(array), 'base64': saved(np.save, array)} for name, array in arrays.items()},
    'archives': {
        'stored': saved(np.savez, a=real, b=whole),
        'deflated': saved(np.savez_compressed, a=real, b=whole, zeros=np.zeros((3, 400))),
        'one member': saved(np.savez, real),
    },
    'unsupported': {
        'complex': saved(np.save, real + 1j),
        'text': saved(np.save, np.array(['a', 'b'])),
        'objects': saved(np.save, np.array([None, 1], dtype=object)),
        'times': saved(np.save, np.array(['2020-01-01'], dtype='M8[D]')),
        'structures': saved(np.save, np.array([(1, 2.0)], dtype=[('a', 'i4'), ('b', 'f8')])),
        'long doubles': saved(np.save, real.astype(np.longdouble)),
        'three dimensions': saved(np.save, np.zeros((2, 1, 3))),
    },
}
path = pathlib.Path(__file__).with_suffix('.json')
path.write_text(json.dumps(result, indent=1) + '\n')
