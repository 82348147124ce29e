// The file has only this call: a closure here would belong to the main actor and die on any other thread.
runMockAuthority()
