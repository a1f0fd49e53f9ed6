/** The guides that docs/README.md lists (vite.config.ts). Their texts are loaded apart from the code. */

import GUIDES from 'virtual:guides';
import { signal } from '@preact/signals';
import { type Block, parseMarkdown } from './markdown.js';

export { GUIDES };

/** By name; null until they are loaded. */
export const guideBlocks = signal<Readonly<Record<string, Block[]>> | null>(null);

export async function loadGuides(): Promise<void> {
  const { default: texts } = await import('virtual:guide-texts');
  guideBlocks.value = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, parseMarkdown(text)]),
  );
}
