(class name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @class
(module name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @module
(singleton_class) @inner
(method name: [(identifier) (constant) (setter)] @name body: (_)? @body) @function
(singleton_method name: [(identifier) (constant) (setter)] @name body: (_)? @body) @function
(assignment left: (constant) @name right: (_) @body) @constant
(call method: (identifier) @_method arguments: (argument_list (simple_symbol) @name @variable)
  (#any-of? @_method "attr_accessor" "attr_reader" "attr_writer"))

; From `private` on, until something else is said
(class body: (body_statement (identifier) @access))
(module body: (body_statement (identifier) @access))
(singleton_class body: (body_statement (identifier) @access))

; describe "…" do … end
(program (call block: (do_block) @local))
