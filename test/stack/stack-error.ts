/** Why a server could not be started, and how to fix it. */
export class StackError extends Error {
  override readonly name: string = 'StackError';
}

/** This machine lacks what a server needs. */
export class MissingPrerequisite extends StackError {
  override readonly name = 'MissingPrerequisite';
}
