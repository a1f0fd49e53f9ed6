/** The default theme of VitePress without its fonts, in the colours of the console. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
