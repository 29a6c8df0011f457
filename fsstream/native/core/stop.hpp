// Long work that nobody feeds asks between its steps whether it should stop.
#pragma once

namespace fsstream {

// What is asked; it throws to stop. Set once, when the module is loaded: without it nothing is asked.
void ask_to_stop_with(void (*question)());

// Asks, on the thread the work was begun on.
void leave_if_stopped();

}  // namespace fsstream
