import '../style.css';
import './reference.css';
import { render } from 'preact';
import { startCopyButtons } from '../components/code.js';
import { startRouter } from '../router.js';
import { restoreSession } from '../session.js';
import { App } from './app.js';
import { loadReference } from './open-api.js';

const root = document.getElementById('reference');
if (!root) throw new Error('index.html has no #reference');
startRouter();
startCopyButtons();
restoreSession();
void loadReference();
render(<App />, root);
