declare module 'virtual:questions' {
  const questions: readonly { title: string; statement: string }[];
  export default questions;
}
