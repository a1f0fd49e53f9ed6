import '../style.css';
import './reference.css';
import { render } from 'preact';
import { App } from './app.js';
import { startCopyButtons } from './code.js';
import { loadGuides } from './guides.js';
import { loadReference } from './open-api.js';
import { startRouter } from './router.js';

const root = document.getElementById('reference');
if (!root) throw new Error('index.html has no #reference');
startRouter();
startCopyButtons();
void loadReference();
void loadGuides();
render(<App />, root);
