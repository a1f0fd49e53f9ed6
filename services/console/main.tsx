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
// Before the first frame, so that a key in the address is gone before anything is shown.
restoreSession();
// A link with a key that is pasted into an open console.
addEventListener('hashchange', restoreSession);
render(<App />, root);
