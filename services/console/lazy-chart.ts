/** The chart and its library are loaded with the first chart, apart from the rest of the console. */
export const lazyChart = () => import('./chart.js');
