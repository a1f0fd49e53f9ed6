/** The key of the requests tried here: that of the console in this tab, else one entered on a page of the reference. */
import { effect, signal } from '@preact/signals';
import { STORED_KEY } from '../stored-key.js';

interface KeyInfo {
  organization_id: string;
  scopes: string[];
}

export const key = signal(sessionStorage.getItem(STORED_KEY) ?? '');
/** Of the key; `null` while it is not known to be valid. */
export const keyInfo = signal<KeyInfo | null>(null);

/** Keeps a key that was accepted, in this tab alone. */
export const keepKey = () => sessionStorage.setItem(STORED_KEY, key.value);

const looksWhole = (text: string) => /^rl_live_\w{8}_\w{38}$/.test(text);

effect(() => {
  const asked = key.value;
  keyInfo.value = null;
  if (!looksWhole(asked)) return;
  fetch('/api/key', { headers: { 'X-Api-Key': asked } })
    .then(async (response) => {
      if (response.ok && asked === key.value) keyInfo.value = (await response.json()) as KeyInfo;
    })
    .catch(() => undefined);
});

export const lacksScope = (scope: string | undefined) =>
  scope !== undefined &&
  keyInfo.value !== null &&
  !keyInfo.value.scopes.some((each) => each === scope || each === '*');
