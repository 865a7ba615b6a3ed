import { fileURLToPath } from 'node:url';
import * as covarium from 'covarium';
import draw from './draw.cjs';

await draw(covarium, fileURLToPath(import.meta.url));
