/** A system as states and the steps between them. */
export type Model<State> = {
  readonly initial: State;
  /** Two states with the same text have the same future. */
  readonly identity: (state: State) => string;
  /** Every step that can come next, by its name. */
  readonly steps: (state: State) => readonly Step<State>[];
  /** What is wrong with a state that can be reached; null where nothing is. */
  readonly violation: (state: State) => string | null;
  /** What is wrong with a state in which nothing more happens; null where nothing is. */
  readonly unfinished: (state: State) => string | null;
};

/** A step of a model, and the state after it. */
export type Step<State> = { readonly name: string; readonly next: State };

/** A shortest way to a state that must not be. */
export type Violation = { readonly what: string; readonly trace: readonly string[] };

type Reached<State> = { readonly state: State; readonly from: number; readonly name: string };

/** Looks at every state that can be reached, nearest first, and returns how many there are, or a shortest violation. */
export function check<State>(
  { initial, identity, steps, violation, unfinished }: Model<State>,
  mostStates = 2_000_000,
): { readonly states: number; readonly steps: number; readonly violation: Violation | null } {
  const reached: Reached<State>[] = [{ state: initial, from: -1, name: "" }];
  const known = new Set([identity(initial)]);
  let taken = 0;
  for (let at = 0; at < reached.length; at += 1) {
    const { state } = reached[at] as Reached<State>;
    const next = steps(state);
    taken += next.length;
    const what = violation(state) ?? (next.length === 0 ? unfinished(state) : null);
    if (what !== null)
      return { states: reached.length, steps: taken, violation: { what, trace: traceTo(reached, at) } };
    for (const { name, next: following } of next) {
      const key = identity(following);
      if (known.has(key)) continue;
      known.add(key);
      reached.push({ state: following, from: at, name });
    }
    if (reached.length > mostStates) throw new RangeError(`the model has more than ${mostStates} states`);
  }
  return { states: reached.length, steps: taken, violation: null };
}

function traceTo<State>(reached: readonly Reached<State>[], end: number): readonly string[] {
  const names: string[] = [];
  for (let at = end; at > 0; ) {
    const { from, name } = reached[at] as Reached<State>;
    names.unshift(name);
    at = from;
  }
  return names;
}

/** A random way through a model until nothing more can happen. */
export function randomTrace<State>({ initial, steps }: Model<State>, random: () => number): readonly Step<State>[] {
  const trace: Step<State>[] = [];
  for (let state = initial; ; ) {
    const next = steps(state);
    const step = next[Math.floor(random() * next.length)];
    if (step === undefined) return trace;
    trace.push(step);
    state = step.next;
  }
}
