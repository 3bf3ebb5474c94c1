"""Events that collide on purpose: few names, few times, so that every merge rule and conflict comes up soon."""
