import './style.css';
import { render } from 'preact';
import { App } from './app.js';
import { startCopyButtons } from './components/code.js';
import { startKeys } from './keys.js';
import { startRouter } from './router.js';
import { restoreSession } from './session.js';

const root = document.getElementById('console');
if (!root) throw new Error('index.html has no #console');
startRouter();
startCopyButtons();
startKeys();
// Runs before the first frame, so that a key disappears from the address before anything is shown.
restoreSession();
// Handles a link with a key that is pasted into an open console.
addEventListener('hashchange', restoreSession);
render(<App />, root);
