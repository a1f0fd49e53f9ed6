/** The guides that docs/README.md lists (vite.config.ts). Their texts are loaded apart from the code. */

import GUIDES from 'virtual:guides';
import { signal } from '@preact/signals';

export { GUIDES };

/** HTML by name; null until it is loaded. */
export const guideTexts = signal<Readonly<Record<string, string>> | null>(null);

export async function loadGuides(): Promise<void> {
  const { default: texts } = await import('virtual:guide-texts');
  guideTexts.value = texts;
}
