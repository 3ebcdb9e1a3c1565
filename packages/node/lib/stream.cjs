// A command that runs, and what it prints.
"use strict";

class ExecStream {
  #pieces = [];
  #wake = () => {};
  #isDone = false;
  #cancel;

  /** `begin(onPiece)` sends the request, and returns `{ result, cancel }`. */
  constructor(begin) {
    const { result, cancel } = begin((piece) => {
      this.#pieces.push(piece);
      this.#wake();
    });
    this.#cancel = cancel;
    this.result = result;
    const done = () => {
      this.#isDone = true;
      this.#wake();
    };
    result.then(done, done);
  }

  /** Ends the command. Its result says so. */
  cancel() {
    if (!this.#isDone) this.#cancel();
  }

  /** What it prints, piece by piece. A loop that is left early cancels the command. */
  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        while (this.#pieces.length > 0) yield this.#pieces.shift();
        if (this.#isDone) break;
        await new Promise((resolve) => {
          this.#wake = resolve;
        });
      }
      await this.result;
    } finally {
      this.cancel();
    }
  }
}

module.exports = { ExecStream };
