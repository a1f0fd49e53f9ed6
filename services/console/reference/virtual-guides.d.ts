declare module 'virtual:guides' {
  const guides: readonly { name: string; group: string; title: string }[];
  export default guides;
}
declare module 'virtual:guide-texts' {
  const texts: Readonly<Record<string, string>>;
  export default texts;
}
