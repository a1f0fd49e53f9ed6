/** Progress for a person: what is done now, and how long it took. */
export interface Step {
  name: string;
  seconds: number;
}

export const steps: Step[] = [];

export async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  process.stdout.write(`${name} …`);
  try {
    const result = await work();
    const seconds = Math.round((performance.now() - begun) / 1000);
    steps.push({ name, seconds });
    process.stdout.write(` ${seconds} s\n`);
    return result;
  } catch (error) {
    process.stdout.write(' failed\n');
    throw error;
  }
}
