import { Random } from '../../support/random.js';

/** A deck deals each card once before it deals any card again. The seed shuffles them. */
export class Deck<Card> {
  readonly #cards: readonly Card[];

  constructor(cards: readonly Card[]) {
    this.#cards = cards;
  }

  at(index: number, seed: number): Card {
    const { length } = this.#cards;
    const shuffled = new Random(seed * 1000 + Math.floor(index / length)).shuffled(this.#cards);
    return shuffled[index % length] as Card;
  }
}
