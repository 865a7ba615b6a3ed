const covarium = require('covarium');
const draw = require('./draw.cjs');

draw(covarium, __filename);
