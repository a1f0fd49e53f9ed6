import { effect, signal } from '@preact/signals';

const STORED_THEME = 'reachline.theme';
type Theme = 'light' | 'dark';

const dark = matchMedia('(prefers-color-scheme: dark)');
const stored = localStorage.getItem(STORED_THEME) as Theme | null;

/** The theme of the device, until another is chosen here. */
export const theme = signal<Theme>(stored ?? (dark.matches ? 'dark' : 'light'));

dark.addEventListener('change', ({ matches }) => {
  if (localStorage.getItem(STORED_THEME) === null) theme.value = matches ? 'dark' : 'light';
});
effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function toggleTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(STORED_THEME, theme.value);
}
