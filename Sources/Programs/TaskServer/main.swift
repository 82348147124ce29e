// Nothing but this call: a closure written here would belong to the main actor and die on any other thread.
runTaskServer()
